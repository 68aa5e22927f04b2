// Updates the number of runs that wait for the visitor's approval: after changes that the page is notified of, every quarter of a minute,
// and when the reader comes back to the page. A hidden page requests nothing.
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
      // When the session has expired, the answer redirects to the sign-in page. The page stays as it is, so that nothing is lost that the
      // reader types.
      if (answer.ok && !answer.redirected) show(await answer.json());
    } catch {
      // The service cannot be reached. The number stays, and is requested again later.
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
