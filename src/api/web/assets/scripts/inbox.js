// Keeps the number of runs that wait for the visitor's approval: it is counted again after changes that the page hears of, every quarter
// of a minute, and when the reader comes back to the page. A page that nobody looks at counts nothing.
(() => {
  const link = document.querySelector('#inbox');
  if (!(link instanceof HTMLAnchorElement)) return;
  const address = link.dataset['count'] ?? '';
  const pauseMs = 2_000;
  let isCounting = false;
  let isAskedAgain = false;

  async function count() {
    isAskedAgain = isCounting;
    if (isCounting || document.hidden) return;
    isCounting = true;
    try {
      const answer = await fetch(address, { headers: { accept: 'application/json' } });
      // A session that has ended leads to the sign-in page. What the reader types must stay, so the page is left as it is.
      if (answer.ok && !answer.redirected) show(await answer.json());
    } catch {
      // The service cannot be reached: the number stays, and is counted again.
    }
    setTimeout(() => {
      isCounting = false;
      if (isAskedAgain) void count();
    }, pauseMs);
  }

  /** @param {{ count: number, shown: string, said: string }} inbox */
  function show({ count, shown, said }) {
    if (!(link instanceof HTMLAnchorElement)) return;
    const [number, words] = link.querySelectorAll('span');
    if (number) number.textContent = shown;
    if (words) words.textContent = said;
    link.hidden = count === 0;
  }

  document.addEventListener('changed', () => void count());
  document.addEventListener('visibilitychange', () => void count());
  setInterval(() => void count(), 15_000);
})();
