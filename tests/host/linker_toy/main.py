from toy.app import main

main()
