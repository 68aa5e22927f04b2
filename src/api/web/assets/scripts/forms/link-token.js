// Moves the token of a link from behind `#` in the address into the form. While the person signs in, the token is stored in this tab.
(() => {
  const kept = `link-token ${location.pathname}`;
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token) {
    sessionStorage.setItem(kept, token);
    history.replaceState(null, '', location.pathname + location.search);
  }
  const field = document.querySelector('input[name="token"]');
  const waiting = sessionStorage.getItem(kept);
  if (!(field instanceof HTMLInputElement) || waiting === null) return;
  sessionStorage.removeItem(kept);
  field.value = waiting;
})();
