// Says when a page no longer follows changes. An open stream or an update takes the note away again.
(() => {
  const note = document.querySelector('#live-note');
  if (!(note instanceof HTMLElement)) return;
  const show = (/** @type {boolean} */ isPaused) => {
    if (note.hidden === isPaused) note.hidden = !isPaused;
  };
  document.addEventListener('htmx:sse:error', () => show(true));
  document.addEventListener('htmx:sse:after:connection', () => show(false));
  document.addEventListener('htmx:error', (event) => {
    if (event.target instanceof Element && event.target.closest('#stream, #live')) show(true);
  });
})();
