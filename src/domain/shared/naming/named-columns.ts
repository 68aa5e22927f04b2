import type { RawBuilder } from 'kysely';

/** What a page shows about a thing besides its name, as columns of its table. */
export interface NamedColumns {
  /** The organization of a team, which is part of its address. */
  readonly organizationId?: RawBuilder<string | null>;
  /** The name of the environment of an instance. */
  readonly environment?: RawBuilder<string | null>;
  /** The name of the project of that environment. */
  readonly project?: RawBuilder<string | null>;
}
