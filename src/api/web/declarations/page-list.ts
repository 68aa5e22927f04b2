import type { IconName } from '../components/icon.ts';
import type { LocalPath } from './path-patterns.ts';

/** The texts of pages of an area, by their paths and then by the word with which a redirect names the text in the address (`done=saved`). */
export type NewsOn<Pages extends Readonly<Record<string, string>>> = {
  readonly [Pattern in Pages[keyof Pages]]?: Readonly<Record<string, string>>;
};

/** What the address of a page may name of a resource. */
export interface Resource {
  readonly id: string;
  /** The organization that owns it; null if none does. */
  readonly organizationId: string | null;
  /** What it is part of; only for kinds whose address names it. */
  readonly parentId?: string | null;
  /** Only for kinds whose address names it. */
  readonly name?: string;
}

/** A kind of resource that has a page. */
export interface ResourceKind {
  /** One of them, as results of a search name it. */
  readonly kind: string;
  /** Many of them, as headings name them. */
  readonly label: string;
  readonly icon: IconName;
  readonly page: (resource: Resource) => LocalPath | null | undefined | '';
}
