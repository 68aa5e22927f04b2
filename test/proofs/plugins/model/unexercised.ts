/** Two rules that no operation of the service exercises yet, because it runs no code of plugins. */

/** A data operation that was admitted may finish, whatever became of the permission meanwhile. A new one needs it again. */
export function mayContinue(operation: { readonly isAdmitted: boolean }, isPermittedNow: boolean): boolean {
  return operation.isAdmitted || isPermittedNow;
}

/** A child invocation may do what its parent may and what it asks for: it narrows the ceiling and never widens it. */
export function narrowCeiling(parent: readonly string[], asked: readonly string[]): string[] {
  return asked.filter((action) => parent.includes(action));
}
