// Shows times in the reader's own time zone or in UTC, by one switch for all pages. Times of which the age matters say how long ago they
// were, if that is less than a day. The exact time is in the title.
(() => {
  const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });
  const narrow = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });
  const units = /** @type {const} */ ([
    ['hour', 3_600_000],
    ['minute', 60_000],
    ['second', 1_000],
  ]);
  let isUtc = false;

  /** @param {Date} time */
  function describeSpan(time) {
    const age = Math.max(0, Date.now() - time.getTime());
    if (age >= 86_400_000) return null;
    const [unit, length] = units.find(([, each]) => age >= each) ?? ['second', 1_000];
    const words = new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'short' });
    return `for ${words.format(Math.trunc(age / length))}`;
  }

  try {
    isUtc = localStorage.getItem('time-zone') === 'utc';
  } catch {
    // The browser keeps nothing: local times.
  }

  /** @param {Date} time @param {Intl.DateTimeFormatOptions} options */
  function format(time, options) {
    const zone = isUtc ? { timeZone: 'UTC' } : {};
    return new Intl.DateTimeFormat('en-GB', { ...options, ...zone }).format(time);
  }

  /** @param {Date} time @param {Intl.RelativeTimeFormat} words */
  function describeAge(time, words) {
    const age = Date.now() - time.getTime();
    if (Math.abs(age) >= 86_400_000) return null;
    if (Math.abs(age) < 1_000) return 'now';
    const [unit, length] = units.find(([, each]) => Math.abs(age) >= each) ?? ['second', 1_000];
    return words.format(-Math.trunc(age / length), unit);
  }

  /** @param {Date} time */
  function isThisYear(time) {
    return time.getFullYear() === new Date().getFullYear();
  }

  /** @param {HTMLTimeElement} element @param {Date} time */
  function describe({ dataset }, time) {
    if ('lasting' in dataset) return describeSpan(time);
    return 'relative' in dataset ? describeAge(time, 'dayOnly' in dataset ? narrow : relative) : null;
  }

  /** @param {HTMLTimeElement} element */
  function show(element) {
    const time = new Date(element.dateTime);
    if (Number.isNaN(time.getTime())) return;
    const exact = format(time, { dateStyle: 'full', timeStyle: 'long' });
    const plain =
      'dayOnly' in element.dataset
        ? format(time, { day: 'numeric', month: 'short', ...(isThisYear(time) ? {} : { year: 'numeric' }) })
        : format(time, { dateStyle: 'medium', timeStyle: 'short' }) + (isUtc ? ' UTC' : '');
    const text = describe(element, time) || ('lasting' in element.dataset ? `since ${plain}` : plain);
    if (element.title !== exact) element.title = exact;
    if (element.textContent !== text) element.textContent = text;
  }

  function showAll() {
    for (const element of document.querySelectorAll('time')) show(element);
    const zone = isUtc ? 'UTC' : 'local time';
    for (const name of document.querySelectorAll('[data-time-zone]')) {
      if (name.textContent !== zone) name.textContent = zone;
    }
  }

  showAll();
  // An update brings the service's own text back; this runs before the browser draws it.
  // A log has no such times, and changes at every frame while somebody scrolls.
  const isOfLog = (/** @type {MutationRecord} */ { target }) => target instanceof Element && target.closest('run-log');
  new MutationObserver((changes) => {
    if (!changes.every(isOfLog)) showAll();
  }).observe(document.body, { childList: true, characterData: true, subtree: true });
  setInterval(showAll, 10_000);
  for (const button of document.querySelectorAll('[data-do="switch-time-zone"]')) {
    button.removeAttribute('hidden');
    button.addEventListener('click', () => {
      isUtc = !isUtc;
      localStorage.setItem('time-zone', isUtc ? 'utc' : 'local');
      showAll();
    });
  }
})();
