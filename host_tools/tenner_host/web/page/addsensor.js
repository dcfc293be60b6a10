// A new sensor: the chips on the board's buses, a name, and a reading before it is kept.
import { post } from "./api.js";
import { button, h } from "./dom.js";

const PINS = /^(adc|gpio|ds18|dht|am23)/;

export function addSensor(added) {
  const found = h("ul", { class: "chips" });
  const said = h("p", { role: "status" });
  const name = h("input", { name: "sensor", maxlength: 32, autocapitalize: "off", placeholder: "cellar", required: true });
  const driver = h("select", { name: "driver" });
  const bus = h("input", { name: "bus", size: 6, placeholder: "i2c0" });
  const address = h("input", { name: "address", size: 6, placeholder: "0x44" });
  const pin = h("input", { name: "pin", size: 6, placeholder: "D4" });
  const labelled = (text, input) => h("label", null, text, input);
  const wired = [labelled("Bus", bus), labelled("Address", address)];
  const pinned = labelled("Pin", pin);
  const form = h("form", { hidden: true, onsubmit: (event) => { event.preventDefault(); keep.click(); } },
    labelled("Name", name), labelled("Chip", driver), ...wired, pinned);
  const keep = button("Read it and keep it", save);
  form.append(keep);
  const root = h("details", { class: "fold card add" }, h("summary", null, "Add a sensor"), h("p", { class: "soft" }, "Connect the chip, then look for it. It is read once before it is kept."),
    button("Look for chips", look), found, form, said);
  let drivers = [];

  async function look() {
    said.textContent = "";
    const answer = await post("/sensors/find");
    drivers = answer.drivers;
    const rows = answer.found.map((one) => h("li", null, one.problem || [`${one.chips || "An unknown chip"} `, h("small", null, `${one.address} on ${one.bus}`), " ",
      one.sensor ? h("small", null, `is ${one.sensor}`) : button("Use it", () => open(one))]));
    found.replaceChildren(...rows, h("li", null, button("A sensor on a pin, or another one", () => open({ drivers: [], bus: "", address: "" }))));
  }

  function open(one) {
    const fitting = one.drivers.length ? one.drivers : one.address ? drivers.filter((other) => !PINS.test(other)) : drivers;
    driver.replaceChildren(...fitting.map((each) => h("option", { value: each }, each)));
    [bus.value, address.value, pin.value, said.textContent] = [one.bus, one.address, "", ""];
    form.hidden = false;
    change();
    name.focus();
  }

  function change() {
    const onPin = PINS.test(driver.value);
    pinned.hidden = !onPin;
    for (const one of wired) one.hidden = onPin;
  }

  async function save() {
    if (!form.reportValidity()) return;
    const settings = {};
    for (const one of PINS.test(driver.value) ? [pin] : [bus, address]) if (one.value.trim()) settings[one.name] = one.value.trim();
    try {
      said.textContent = (await post("/sensors", { name: name.value.trim(), driver: driver.value, settings })).answer;
    } catch (problem) {
      said.textContent = problem.message;
      return;
    }
    form.hidden = true;
    name.value = "";
    found.replaceChildren();
    added();
  }

  driver.addEventListener("change", change);
  return root;
}
