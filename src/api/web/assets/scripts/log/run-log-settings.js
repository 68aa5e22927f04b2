// Stores how the reader wants to see logs.

/** @param {string} name @param {string} [value] */
export function isKept(name, value = 'on') {
  try {
    return localStorage.getItem(name) === value;
  } catch {
    return false;
  }
}

/** @param {string} name @param {boolean} isOn */
export function keep(name, isOn) {
  try {
    localStorage.setItem(name, isOn ? 'on' : 'off');
  } catch {
    // The browser stores nothing: the next page starts without the setting.
  }
}
