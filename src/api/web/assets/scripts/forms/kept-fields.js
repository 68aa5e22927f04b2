/**
 * The name of a control, its value, whether it is checked (null for a control that cannot be), and its index among the controls of that
 * name.
 * @typedef {[name: string, value: string, checked: boolean | null, place: number]} KeptValue
 */
/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} FormControl */

// Which fields of a form `kept-text.js` keeps, and what tells one form from another.
// biome-ignore lint/correctness/noUnusedVariables: The next script of the bundle uses it.
const keptFields = (() => {
  /** @param {EventTarget | null} control @returns {control is FormControl} */
  function isControl(control) {
    return (
      control instanceof HTMLInputElement ||
      control instanceof HTMLTextAreaElement ||
      control instanceof HTMLSelectElement
    );
  }

  /**
   * The revision for which a form was opened. It is kept with what was typed, so that nobody overwrites a newer one by accident.
   * @param {FormControl} control
   */
  function isRevision({ type, name }) {
    return type === 'hidden' && name.startsWith('expected_');
  }

  /**
   * Neither secrets nor confirmations are kept. A confirmation is about what the form shows, so it must be made again.
   * @param {FormControl} control
   */
  function mayKeep({ name, type, dataset }) {
    if (name === '' || type === 'password' || type === 'file' || type === 'submit') return false;
    return !(
      'unkept' in dataset ||
      'secret' in dataset ||
      /passw|passphrase|secret|token|credential|private.?key/i.test(name)
    );
  }

  /** @param {FormControl} control */
  function isKept(control) {
    return mayKeep(control) && (control.type !== 'hidden' || 'kept' in control.dataset || isRevision(control));
  }

  /** @param {FormControl} control @returns {control is HTMLInputElement} */
  function isPicked(control) {
    return control.type === 'checkbox' || control.type === 'radio';
  }

  /** Every control of a form whose value is kept. @param {HTMLFormElement} form @returns {{ control: FormControl, value: KeptValue }[]} */
  function controlsOf(form) {
    const controls = [...form.elements].filter(isControl);
    return controls.filter(isKept).map((control) => {
      const same = controls.filter(
        ({ name, value }) => name === control.name && (!isPicked(control) || value === control.value),
      );
      const checked = isPicked(control) ? control.checked : null;
      return { control, value: [control.name, control.value, checked, same.indexOf(control)] };
    });
  }

  /** @param {KeptValue} one @param {KeptValue} other */
  function isSameControl([name, value, checked, place], [otherName, otherValue, , otherPlace]) {
    return name === otherName && place === otherPlace && (checked === null || value === otherValue);
  }

  /** Whether a control has the same value. @param {KeptValue} one @param {KeptValue} other */
  function isSame(one, other) {
    return isSameControl(one, other) && (one[2] === null ? one[1] === other[1] : one[2] === other[2]);
  }

  /** @param {FormControl} control */
  function isChanged(control) {
    if (control instanceof HTMLSelectElement) {
      const chosen = [...control.options].findIndex(({ defaultSelected }) => defaultSelected);
      return control.selectedIndex !== Math.max(chosen, 0);
    }
    return isPicked(control) ? control.checked !== control.defaultChecked : control.value !== control.defaultValue;
  }

  /** The parameters of an address that name the result of an action. */
  function resultParameters() {
    return (document.body.dataset['resultParameters'] ?? '').split(' ');
  }

  /** Where a form is sent. @param {HTMLFormElement} form */
  function actionOf(form) {
    return new URL(form.getAttribute('action') ?? '', location.href);
  }

  /** The address of a form. Its query often names the target. @param {HTMLFormElement} form */
  function addressOf(form) {
    const { pathname, searchParams } = actionOf(form);
    for (const name of resultParameters()) searchParams.delete(name);
    searchParams.sort();
    return `${pathname}?${searchParams}`;
  }

  /**
   * Returns a function that tells whether the address sets a field: by its name, or by the last part of its name, as `environment_id` sets
   * `work.run.environment_id`.
   * @param {HTMLFormElement} form
   */
  function namedBy(form) {
    const named = new Set([...actionOf(form).searchParams.keys(), ...new URLSearchParams(location.search).keys()]);
    return (/** @type {string} */ name) => named.has(name) || named.has(name.slice(name.lastIndexOf('.') + 1));
  }

  /**
   * What a form is about besides its address, such as the plan that it reviews. Empty for a form that the service fills in, because its
   * hidden fields change with what is typed.
   * @param {HTMLFormElement} form
   */
  function subjectOf(form) {
    if ('edited' in form.dataset) return '';
    const hidden = [...form.elements].filter(isControl).filter((control) => control.type === 'hidden');
    const subject = hidden.filter(
      (control) => control.name !== 'key' && mayKeep(control) && !isRevision(control) && !('kept' in control.dataset),
    );
    return JSON.stringify(subject.map(({ name, value }) => [name, value]));
  }

  return {
    isControl,
    isRevision,
    isPicked,
    controlsOf,
    isSameControl,
    isSame,
    isChanged,
    actionOf,
    addressOf,
    namedBy,
    resultParameters,
    subjectOf,
  };
})();
