import type { TestApi } from '../api/in-process-api.ts';
import type { SeededAssemblies } from '../pages/assemblies/add-assemblies.ts';
import type { Templates } from '../pages/catalog/add-templates.ts';
import type { Environments } from '../pages/environments.ts';
import type { DeclaredPage } from '../pages/list/declared-page.ts';
import type { People } from '../pages/people.ts';
import type { Tenants } from '../pages/tenants.ts';

/** What the realistic installation has when an area adds to it. */
export interface ShownPlace {
  readonly people: People;
  readonly tenants: Tenants;
  readonly environments: Environments;
  readonly templates: Templates;
  readonly assemblies: SeededAssemblies;
}

/** A resource that is named for a state, its path in the API, what the API shows of it there, and the fields that have any text. */
export type NamedState = readonly [name: string, path: string, shown: object, texts?: readonly string[]];

export interface Shown {
  readonly pages: readonly DeclaredPage[];
  readonly states?: readonly NamedState[];
}

/** Adds to the realistic installation, and declares the pages that show what was added, in their states. */
export type ShowContent = (api: TestApi, place: ShownPlace) => Promise<Shown>;
