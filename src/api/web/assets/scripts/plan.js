// Moves through the changes of a plan by keys, opens the change that the address names, and opens all of them for print.
(() => {
  /** The current change of the reader. @type {HTMLDetailsElement | null} */
  let current = null;

  /** @returns {HTMLDetailsElement[]} */
  function findChanges() {
    return [...document.querySelectorAll('details.plan-change')].filter((each) => each instanceof HTMLDetailsElement);
  }

  /** @param {number} step */
  function move(step) {
    const changes = findChanges();
    const at = current ? changes.indexOf(current) : -1;
    const next = changes[at < 0 ? (step > 0 ? 0 : changes.length - 1) : at + step] ?? current;
    next?.querySelector('summary')?.focus();
  }

  function toggle() {
    const change = current?.isConnected ? current : findChanges()[0];
    if (!change) return;
    change.open = !change.open;
    change.querySelector('summary')?.focus();
  }

  function toggleAll() {
    const changes = findChanges();
    const open = changes.some((each) => !each.open);
    for (const each of changes) each.open = open;
  }

  /** Opens the change that the address names. If it is on another page of the plan, goes to that page. */
  function showNamed() {
    const number = Number(/^#r-([1-9]\d{0,8})$/.exec(location.hash)?.[1]);
    if (!number) return;
    const change = document.getElementById(`r-${number}`);
    if (change instanceof HTMLDetailsElement) {
      change.open = true;
      change.scrollIntoView({ block: 'start' });
      change.querySelector('summary')?.focus({ preventScroll: true });
    } else goToPageOf(number);
  }

  /** @param {number} number */
  function goToPageOf(number) {
    const list = document.querySelector('[data-changes-per-page]');
    if (!(list instanceof HTMLElement) || number > Number(list.dataset['total'])) return;
    const perPage = Number(list.dataset['changesPerPage']);
    const address = new URL(location.pathname, location.origin);
    address.searchParams.set('tab', 'plan');
    const after = Math.floor((number - 1) / perPage) * perPage;
    if (after > 0) address.searchParams.set('after', String(after));
    address.hash = location.hash;
    if (address.href !== location.href) location.replace(address);
  }

  const actions = { next: () => move(1), previous: () => move(-1), toggle, 'toggle-all': toggleAll };

  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-plan]') : null;
    const name = button instanceof HTMLElement ? button.dataset['plan'] : undefined;
    if (name !== undefined && Object.hasOwn(actions, name)) actions[/** @type {keyof typeof actions} */ (name)]();
  });
  document.addEventListener('focusin', (event) => {
    const change = event.target instanceof Element ? event.target.closest('details.plan-change') : null;
    if (change instanceof HTMLDetailsElement) current = change;
  });

  /** The changes that print opened. @type {HTMLDetailsElement[]} */
  let opened = [];
  window.addEventListener('beforeprint', () => {
    opened = findChanges().filter((each) => !each.open);
    for (const each of opened) each.open = true;
  });
  window.addEventListener('afterprint', () => {
    for (const each of opened) each.open = false;
    opened = [];
  });
  window.addEventListener('hashchange', showNamed);
  showNamed();
})();
