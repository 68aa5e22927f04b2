import type { Em } from '#database/database.ts';
import { AssemblyVersion, type ChosenTemplate } from '../../entity.ts';
import type { AssemblySpec } from '../../spec/spec.ts';

/** A published version as runs use it. It never changes, so it is read once and cached. */
export interface PublishedAssembly {
  readonly id: string;
  readonly version: string;
  readonly spec: AssemblySpec;
  readonly templates: Readonly<Record<string, ChosenTemplate>>;
  /** The keys of the nodes for which each node waits. */
  readonly dependencies: Readonly<Record<string, readonly string[]>>;
  readonly publishedBy: string;
  readonly responsibleUserId: string | null;
}

const maxCached = 100;
const cached = new Map<string, PublishedAssembly>();

/** A version by the id of its row, which must exist. */
export async function loadPublishedAssembly(em: Em, id: string): Promise<PublishedAssembly> {
  const known = cached.get(id);
  if (known) return known;
  const row = await em.findOneOrFail(AssemblyVersion, { id });
  // The spec was checked when it was published; a later release may check more.
  const { version, spec, templates, dependencies, publishedBy, responsibleUserId = null } = row;
  const published = { id, version, spec, templates, dependencies, publishedBy, responsibleUserId };
  if (cached.size >= maxCached) cached.delete(cached.keys().next().value ?? id);
  cached.set(id, published);
  return published;
}

export async function findVersionSpec(em: Em, id: string): Promise<AssemblySpec> {
  return (await loadPublishedAssembly(em, id)).spec;
}
