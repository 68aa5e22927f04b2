import { describeAuthority, findProtected } from '#api/pipeline/actions.ts';
import type { Operation } from '#api/pipeline/operation.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { IconName } from '../components/icon.ts';
import { arrange } from '../declarations/arrange.ts';
import type { LocalPath } from '../paths.ts';

const groupLabels = [null, 'Workloads', 'Configuration', 'Integrations', 'Administration'] as const;

/** An entry of the main navigation. It is current on every page whose path begins with one of its paths. */
export interface NavigationEntry {
  /** Null: it belongs to the first group, which has no name. */
  readonly group: (typeof groupLabels)[number];
  readonly label: string;
  readonly icon: IconName;
  readonly path: LocalPath;
  /** The first part of the paths of other pages that belong to the entry. */
  readonly also?: string;
  /** The label of the entry that it follows, if its place is not that of its area. */
  readonly after?: string;
  /** The id of the operation that the page shows. Visitors who may not use it do not see the entry. */
  readonly operation: string;
}

/** A part of the main navigation. */
export interface NavigationGroup {
  /** Null: the first group has no name, and is always open. */
  readonly label: string | null;
  readonly entries: readonly NavigationEntry[];
}

/** The main navigation, and the operations that decide who may open its pages. */
export interface Offered {
  readonly navigation: readonly NavigationGroup[];
  readonly operations: readonly Operation[];
}

/** The groups of the navigation with the entries of all areas. */
export function toGroups(entries: readonly NavigationEntry[]): NavigationGroup[] {
  return groupLabels.map((label) => ({
    label,
    entries: arrange(
      entries.filter(({ group }) => group === label),
      (entry) => entry.label,
    ),
  }));
}

/**
 * How many links of open groups fit into a window of 800 px, beside the links and headings that are always visible (`41-framed.css` has
 * their heights).
 */
const maxOpenLinks = 14;

/** The groups that are open at first: that of the page, and, in order, those of the others that fit without scrolling. */
export function openGroups(groups: readonly NavigationGroup[], section: LocalPath | undefined): Set<NavigationGroup> {
  const isCurrent = ({ entries }: NavigationGroup) => entries.some(({ path }) => path === section);
  const open = new Set<NavigationGroup>();
  let links = 0;
  for (const group of [...groups].sort((one, other) => Number(isCurrent(other)) - Number(isCurrent(one)))) {
    if (group.label === null || (!isCurrent(group) && links + group.entries.length > maxOpenLinks)) continue;
    open.add(group);
    links += group.entries.length;
  }
  return open;
}

/** The entries whose pages the visitor may open. */
export function navigationFor({ navigation, operations }: Offered, visitor: Principal): NavigationGroup[] {
  const mayOpen = ({ operation }: NavigationEntry) =>
    describeAuthority(findProtected(operations, operation), visitor, []).allowed;
  return navigation
    .map(({ label, entries }) => ({ label, entries: entries.filter(mayOpen) }))
    .filter(({ entries }) => entries.length > 0);
}

/** The path of the entry to which a page belongs; undefined if it belongs to none. */
export function sectionOf(navigation: readonly NavigationGroup[], path: string): LocalPath | undefined {
  const entries = navigation.flatMap((group) => group.entries);
  const isIn = (each: string) => path === each || (each !== '/' && path.startsWith(`${each}/`));
  return entries.find(({ path: first, also }) => isIn(first) || (also !== undefined && isIn(also)))?.path;
}
