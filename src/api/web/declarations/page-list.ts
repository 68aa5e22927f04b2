import type { IconName } from '../components/icon.ts';
import type { LocalPath } from './path-patterns.ts';

/**
 * The texts about the last action on an area's pages, by path and then by the name that a redirect puts into the address (`done=saved`).
 */
export type ConfirmationsOn<Pages extends Readonly<Record<string, string>>> = {
  readonly [Pattern in Pages[keyof Pages]]?: Readonly<Record<string, string>>;
};

/** The facts about a resource that the address of its page may contain. */
export interface Resource {
  readonly id: string;
  /** The organization that owns it; null if no organization does. */
  readonly organizationId: string | null;
  /** The id of its parent; only for kinds whose address contains it. */
  readonly parentId?: string | null;
  /** Only for kinds whose address contains it. */
  readonly name?: string;
}

/** A kind of resource that has a page. */
export interface ResourceKind {
  /** The name of one such resource, for search results. */
  readonly kind: string;
  /** The name of several such resources, for headings. */
  readonly label: string;
  readonly icon: IconName;
  readonly page: (resource: Resource) => LocalPath | null | undefined | '';
}
