// Shows times in the reader's own time zone or in UTC, by one switch for all pages. Times whose age matters show their age if it is less
// than a day, and the exact time in a tooltip. The script runs before the page is parsed and changes each time as it arrives, so that the
// browser never draws the server's text, which has another width.
(() => {
  /** The units, each with its length and three spellings: in full, for narrow places, and for durations. */
  const units = /** @type {const} */ ([
    { length: 3_600_000, usual: ' hr.', narrow: 'h', lasting: ' hr' },
    { length: 60_000, usual: ' min.', narrow: 'm', lasting: ' min' },
    { length: 1_000, usual: ' sec.', narrow: 's', lasting: ' sec' },
  ]);
  const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sept', 'Oct', 'Nov', 'Dec'];
  let isUtc = false;

  try {
    isUtc = localStorage.getItem('time-zone') === 'utc';
  } catch {
    // The browser stores nothing, so times are local.
  }

  /**
   * Reads a time as the server writes it. The formats of the browser are not used, because they take ten milliseconds to load.
   * @param {Date} time
   */
  function readParts(time) {
    const shifted = isUtc ? time : new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
    const day = `${shifted.getUTCDate()} ${months[shifted.getUTCMonth()]}`;
    return { day, year: shifted.getUTCFullYear(), clock: shifted.toISOString().slice(11, 19) };
  }

  /** @param {number} span @param {'usual' | 'narrow' | 'lasting'} words */
  function count(span, words) {
    const unit = units.find(({ length }) => span >= length) ?? units[2];
    return Math.trunc(span / unit.length) + unit[words];
  }

  /** @param {number} age */
  function describeSpan(age) {
    return age < 86_400_000 ? `for ${count(Math.max(0, age), 'lasting')}` : null;
  }

  /** @param {number} age @param {'usual' | 'narrow'} words */
  function describeAge(age, words) {
    if (Math.abs(age) >= 86_400_000) return null;
    if (Math.abs(age) < 1_000) return 'now';
    return age > 0 ? `${count(age, words)} ago` : `in ${count(-age, words)}`;
  }

  /** @param {HTMLTimeElement} element @param {Date} time */
  function describe({ dataset }, time) {
    const age = Date.now() - time.getTime();
    if ('lasting' in dataset) return describeSpan(age);
    return 'relative' in dataset ? describeAge(age, 'dayOnly' in dataset ? 'narrow' : 'usual') : null;
  }

  /** @param {HTMLTimeElement} element @param {Date} time */
  function describePlain({ dataset }, time) {
    const { day, year, clock } = readParts(time);
    if ('dayOnly' in dataset) return year === new Date().getFullYear() ? day : `${day} ${year}`;
    const shown = 'seconds' in dataset ? clock : clock.slice(0, 5);
    return `${'lasting' in dataset ? 'since ' : ''}${day} ${year}, ${shown}${isUtc ? ' UTC' : ''}`;
  }

  /** @param {Element} element */
  function show(element) {
    if (!(element instanceof HTMLTimeElement)) return;
    const time = new Date(element.dateTime);
    if (Number.isNaN(time.getTime())) return;
    const text = describe(element, time) || describePlain(element, time);
    if (element.textContent !== text) element.textContent = text;
  }

  /** Adds the exact time only when a reader asks for it: a page may have hundreds of times. @param {Event} event */
  function showExact({ target }) {
    const element = target instanceof Element ? target.closest('time') : null;
    const time = new Date(element?.dateTime ?? '');
    if (!element || Number.isNaN(time.getTime())) return;
    const zone = isUtc ? { timeZone: 'UTC' } : {};
    element.title = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long', ...zone }).format(time);
  }

  /** @param {ParentNode} part */
  function showAll(part) {
    for (const element of part.querySelectorAll('time')) show(element);
  }

  function showZone() {
    for (const name of document.querySelectorAll('[data-time-zone]')) name.textContent = isUtc ? 'UTC' : 'local time';
  }

  /** Shows a time that was added or changed, and every time in a part that was added. @param {MutationRecord} change */
  function showChanged({ target, addedNodes }) {
    const around = target instanceof Element ? target : target.parentElement;
    // A log has no such times, and changes at every frame while somebody scrolls.
    if (!around || around.closest('run-log')) return;
    const changed = around.closest('time');
    if (changed) return show(changed);
    for (const node of addedNodes) {
      if (!(node instanceof Element)) continue;
      show(node);
      showAll(node);
    }
  }

  // An update restores the server's text. This runs before the browser draws it.
  new MutationObserver((changes) => changes.forEach(showChanged)).observe(document.documentElement, {
    childList: true,
    characterData: true,
    attributeFilter: ['datetime'],
    subtree: true,
  });
  document.addEventListener('pointerover', showExact, { passive: true });
  setInterval(() => showAll(document), 10_000);
  document.addEventListener('DOMContentLoaded', () => {
    showZone();
    for (const button of document.querySelectorAll('[data-do="switch-time-zone"]')) {
      button.removeAttribute('hidden');
      button.addEventListener('click', () => {
        isUtc = !isUtc;
        localStorage.setItem('time-zone', isUtc ? 'utc' : 'local');
        showAll(document);
        showZone();
      });
    }
  });
})();
