// Removes the parameters that name a result from the address, so that neither a reload nor a bookmark shows the result again. Without
// scripts, they stay in the address.
(() => {
  const address = new URL(location.href);
  const named = keptFields.resultParameters().filter((name) => address.searchParams.has(name));
  if (named.length === 0) return;
  for (const name of named) address.searchParams.delete(name);
  history.replaceState(history.state, '', address);
})();
