import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Outcome } from '#domain/shared/command.ts';

interface Owned extends Ownership {
  readonly id: string;
  readonly revision: number;
}

interface Change {
  readonly action: string;
  readonly type: 'organizations' | 'teams' | 'projects' | 'environments';
  /** The answer's body. */
  readonly body: unknown;
  readonly before?: object;
  readonly after?: object;
  /** Given where the command made it. */
  readonly location?: string;
}

/** What a command on a thing of the tenancy answers and leaves in the audit. */
export function outcomeOf({ id, revision, organizationId, teamId }: Owned, change: Change): Outcome {
  const { action, type, body, before, after, location } = change;
  return {
    status: location === undefined ? 200 : 201,
    location: location ?? null,
    revision,
    body,
    audit: {
      ...{ action, resource: { type, id }, organizationId, teamId },
      ...{ before: before ? inSnakeCase(before) : null, after: after ? inSnakeCase(after) : null },
    },
  };
}

/** What the deletion of a thing of the tenancy leaves: its last revision, and what it was called. */
export function deletedOutcome(
  { id, name, slug, organizationId, teamId }: Omit<Owned, 'revision'> & { name: string; slug: string },
  { action, type, revision }: Pick<Change, 'action' | 'type'> & { revision: number },
): Outcome {
  const audit = { action, resource: { type, id }, organizationId, teamId, before: { name, slug }, after: null };
  return { status: 204, revision, audit };
}

/** History names fields as the API does. */
function inSnakeCase(fields: object): Record<string, unknown> {
  const rename = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [rename(name), value]));
}

/** What changes when something goes into the archive or comes out of it. */
export function archivedChange(before: { archivedAt: string | null }, after: { archivedAt: string | null }) {
  return { before: { archived_at: before.archivedAt }, after: { archived_at: after.archivedAt } };
}
