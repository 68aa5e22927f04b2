// A page says the result of an action once: the word that names it leaves the address, so that neither a reload nor a bookmark says it again. Without
// scripts, the address keeps the word.
(() => {
  const address = new URL(location.href);
  if (!address.searchParams.has('done')) return;
  address.searchParams.delete('done');
  history.replaceState(history.state, '', address);
})();
