import type { ActionButton } from '#api/web/components/actions.ts';
import type { Crumb } from '#api/web/components/page-head.ts';
import type { PageWithConfirmations } from '#api/web/confirmations.ts';
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

/** The pages that every owner has. `main` shows its content. */
export type LevelPage =
  | 'main'
  | 'members'
  | 'invitations'
  | 'settings'
  | 'archive'
  | 'unarchive'
  | 'transfer'
  | 'delete';

/** The query of these pages. Its `done` accepts only texts that all of them have. */
export type LevelQuery = QueryOf<typeof pages.organization> & QueryOf<typeof pages.team>;

/**
 * The differences between the pages of organizations and those of teams. Their frame, members, invitations and settings are made from it.
 */
export interface Level<Params, Owner extends LevelOwner> {
  readonly noun: 'organization' | 'team';
  /** The type under which audit records name it. */
  readonly auditType: 'organizations' | 'teams';
  readonly read: (visit: Visit<Params>) => Promise<Owner>;
  /** The pages above its own pages. */
  readonly parents: (owner: Owner) => readonly Crumb[];
  readonly path: (page: LevelPage, owner: Owner, query?: LevelQuery) => LocalPath;
  /** Its content, and how to add to it. */
  readonly holds: {
    readonly label: string;
    readonly action: string;
    readonly button: (owner: Owner) => ActionButton;
  };
  /** The page whose texts confirm actions. */
  readonly confirmations: PageWithConfirmations;
  readonly settings: LevelSettings<Owner>;
}

/** The texts and operations of an owner's settings. */
export interface LevelSettings<Owner> {
  readonly update: (visit: Visit, owner: Owner, body: object) => Promise<unknown>;
  readonly aboutSlug: string;
  readonly aboutTransfer: string;
  readonly aboutDeletion: string;
}

/** The pages above the forms about an owner. */
export function levelCrumbs<Params, Owner extends LevelOwner>(level: Level<Params, Owner>, owner: Owner): Crumb[] {
  return [...level.parents(owner), { label: owner.name, path: level.path('main', owner) }];
}
