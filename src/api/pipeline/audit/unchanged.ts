/**
 * What the audit record of a command compares: these fields, or none if nothing had to change. A command that changed nothing is audited
 * and publishes no event.
 */
export function comparedIf<Fields extends object>(hasChanged: boolean, compared: Fields): Fields | typeof nothing {
  return hasChanged ? compared : nothing;
}

const nothing = { before: {}, after: {} } as const;

interface Revised {
  readonly id: string;
  readonly revision: number;
}

/** The part of a change that names the resource. */
export function changeOf({ id, revision }: Revised): Revised {
  return { id, revision };
}

/** The change that a command made to a resource since this revision. */
export function changeSince<Fields extends object>(before: number, { id, revision }: Revised, compared: Fields) {
  return { id, revision, ...comparedIf(revision !== before, compared) };
}
