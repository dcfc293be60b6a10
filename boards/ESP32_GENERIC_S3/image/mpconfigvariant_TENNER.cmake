# The variant TENNER of MicroPython's ESP32_GENERIC_S3: the agent is inside. boards/README.md says how it is built.
set(SDKCONFIG_DEFAULTS
    ${SDKCONFIG_DEFAULTS}
    boards/ESP32_GENERIC_S3/sdkconfig.tenner
)

list(APPEND MICROPY_DEF_BOARD
    MICROPY_VFS_ROM=1
)
