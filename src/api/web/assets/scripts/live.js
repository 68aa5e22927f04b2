// Shows a note while a page does not get updates. When a stream connects again, the note disappears, and the page loads what it missed.
(() => {
  const note = document.querySelector('#live-note');
  if (!(note instanceof HTMLElement)) return;
  const show = (/** @type {boolean} */ isPaused) => {
    if (note.hidden === isPaused) note.hidden = !isPaused;
  };
  document.addEventListener('htmx:sse:error', () => show(true));
  let hasFollowed = false;
  document.addEventListener('htmx:sse:after:connection', ({ target }) => {
    show(false);
    if (hasFollowed) target?.dispatchEvent(new CustomEvent('changed', { bubbles: true }));
    hasFollowed = true;
  });
  document.addEventListener('htmx:error', (event) => {
    if (event.target instanceof Element && event.target.closest('#stream, #live')) show(true);
  });
})();
