import type { RawBuilder } from 'kysely';

/** The columns of a thing's table that a page shows besides its name. */
export interface NamedColumns {
  /** The organization of a team, which is part of its address. */
  readonly organizationId?: RawBuilder<string | null>;
  /** The name of the environment of an instance. */
  readonly environment?: RawBuilder<string | null>;
  /** The name of the project of that environment. */
  readonly project?: RawBuilder<string | null>;
}
