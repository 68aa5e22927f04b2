import { type LocalPath, pagePath, pages, type Query } from '#api/web/paths.ts';

/** The filters of the catalog, from its address. */
export interface CatalogFilter {
  readonly q: string;
  readonly tags: readonly string[];
  readonly isArchived: boolean;
  /** The owners, or the environment in which its templates can run. */
  readonly scope: Query;
}

/** The address of the catalog with these tags instead of the current ones. */
export function withTags({ q, isArchived, scope }: CatalogFilter, tags: readonly string[]): LocalPath {
  return pagePath(
    pages.catalog,
    {},
    { ...scope, q: q || undefined, tag: tags, archived: isArchived ? 'true' : undefined },
  );
}
