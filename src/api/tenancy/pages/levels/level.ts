import type { ActionButton } from '#api/web/components/actions.ts';
import type { Crumb } from '#api/web/components/page-head.ts';
import type { PageWithNews } from '#api/web/news.ts';
import type { LocalPath, pages, QueryOf } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Action } from '#domain/shared/actions.ts';

/** An organization or a team, as its pages read it. */
export interface LevelOwner {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly archived_at: string | null;
  readonly revision: number;
  readonly actions: readonly Action[];
}

/** The pages that an owner of every level has. `main` shows what it holds. */
export type LevelPage =
  | 'main'
  | 'members'
  | 'invitations'
  | 'settings'
  | 'archive'
  | 'unarchive'
  | 'transfer'
  | 'delete';

/** The query of these pages, with the words that all of them know. */
export type LevelQuery = QueryOf<typeof pages.organization> & QueryOf<typeof pages.team>;

/** How the pages of organizations and those of teams differ. Their frame, members, invitations and settings are made from it. */
export interface Level<Params, Owner extends LevelOwner> {
  readonly noun: 'organization' | 'team';
  /** The type under which audit records name it. */
  readonly auditType: 'organizations' | 'teams';
  readonly read: (visit: Visit<Params>) => Promise<Owner>;
  /** What lies above its own pages. */
  readonly parents: (owner: Owner) => readonly Crumb[];
  readonly path: (page: LevelPage, owner: Owner, query?: LevelQuery) => LocalPath;
  /** What it holds, and how one more is made. */
  readonly holds: {
    readonly label: string;
    readonly action: string;
    readonly button: (owner: Owner) => ActionButton;
  };
  /** The page whose words tell what was done. */
  readonly news: PageWithNews;
  readonly settings: LevelSettings<Owner>;
}

/** What the settings of an owner say and change. */
export interface LevelSettings<Owner> {
  readonly update: (visit: Visit, owner: Owner, body: object) => Promise<unknown>;
  readonly aboutSlug: string;
  readonly aboutTransfer: string;
  readonly aboutDeletion: string;
}

/** What lies above the forms about an owner. */
export function levelCrumbs<Params, Owner extends LevelOwner>(level: Level<Params, Owner>, owner: Owner): Crumb[] {
  return [...level.parents(owner), { label: owner.name, path: level.path('main', owner) }];
}
