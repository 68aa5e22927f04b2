import type { Person } from '../access/people.ts';
import type { Tenant } from '../access/tenancy.ts';
import type { MakeSetup, SetupApi } from '../api/command-setups.ts';
import type { ApiAnswer } from '../api/in-process-api.ts';
import type { Ids } from '../api/tenant-ids.ts';
import type { ShowContent } from './shown-content.ts';

/** Where a tenant's resources are added. */
export interface TenantPlace {
  readonly organization: string;
  readonly team: string;
  readonly project: string;
  readonly environment: string;
  /** A published template of the team, if the resource `needsWork`. */
  readonly template: string;
}

/** A kind of resource of which each tenant gets one. Its name is also its name in `Ids`. */
export interface DeclaredResource {
  /** The operations whose `:id` names it, by the parts of their ids before the dot. */
  readonly namedBy: readonly string[];
  /** Its name in access reviews, if it can be asked about. */
  readonly reviewed?: string;
  /** Whether it needs the template and the run of the tenant. */
  readonly needsWork?: boolean;
  /** Whether it takes so long to add that only its own operations meet it. */
  readonly takesLong?: boolean;
  /** The resource before it that it is part of. It is added to that one, for the same operations. */
  readonly partOf?: string;
  /** Adds one. Returns its id. `whole` is the id of what it is part of. */
  readonly add: (
    api: Pick<SetupApi, 'url' | 'orm'>,
    root: Person,
    place: TenantPlace,
    whole: string,
  ) => Promise<string>;
}

/** A body that names another resource: a missing one and one that the caller may not know get the same answer. */
export interface NamedOwner {
  readonly operation: string;
  readonly field: string;
  readonly status: 403 | 404 | 422;
  /** What the field names. */
  readonly names: 'organization' | 'team' | 'project' | 'environment' | 'template';
  readonly send: (ids: NamingIds, id: string) => [path: string, body: object];
}

export interface NamingIds {
  readonly team: string;
  readonly project: string;
  readonly environment: string;
  readonly template: string;
}

/** What `declarations.ts` of an area's folder in `test/api` may export. The tests fail until it has what they need. */
export interface AreaDeclarations {
  /** The access that each operation demands, in the words of `test/support/api/operation-table.ts`. */
  readonly access: string;
  /** The operations that only administrators may use on what belongs to the whole installation. */
  readonly forAdministrators?: readonly string[];
  /** The operations that hide from others than administrators what belongs to the whole installation. */
  readonly hiddenFromOthers?: readonly string[];
  readonly resources?: Readonly<Record<string, DeclaredResource>>;
  /** An example body for each operation that takes one. */
  readonly bodies?: Readonly<Record<string, (ids: Ids) => object>>;
  /** What commands need to succeed on a new tenant. */
  readonly setups?: Readonly<Record<string, MakeSetup>>;
  /** The status of each command, and its `Location` if it has one. */
  readonly answers?: Readonly<Record<string, readonly [status: number, location?: string]>>;
  /** The status of reads that do not answer 200 to a member of a new tenant. */
  readonly otherwise?: Readonly<Record<string, number>>;
  /** Commands that replace the resource that their path names by a new one, and its name in `Ids`. */
  readonly replaces?: Readonly<Record<string, keyof Ids>>;
  readonly namedOwners?: readonly NamedOwner[];
  /** A request that breaks the rule of each of its error codes. */
  readonly refusals?: Readonly<Record<string, (tenant: Tenant) => Promise<ApiAnswer>>>;
  /** What it adds to the installation that pages are looked at with. */
  readonly show?: ShowContent;
}
