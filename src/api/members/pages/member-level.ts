import type { Level, LevelOwner } from '#api/tenancy/pages/levels/level.ts';
import type { PersonSearch } from '#api/tenancy/pages/person-fields.ts';
import type { Choice } from '#api/web/forms/fields/choices.ts';
import type { Html } from '#api/web/html.ts';
import type { LocalPath } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Action } from '#domain/shared/actions.ts';
import type { ScheduleScope } from './member-schedules.ts';
import type { Prefilled } from './next-step.ts';

/** A member as pages show one. */
export interface ShownMember {
  readonly id: string;
  readonly type: 'user' | 'service_account';
  readonly user_id: string;
  readonly name: string;
  readonly email: string | null;
  readonly enabled: boolean;
  readonly role: string;
  readonly revision: number;
  readonly created_at: string;
}

/** Who can be chosen to join, and how the form asks for them. */
export interface Joiners extends Omit<PersonSearch, 'name'> {
  readonly label: string;
  readonly hint: Html | string;
}

/** A member read alone, with what the visitor may do with the membership. */
export interface MemberDetails extends ShownMember {
  readonly actions: readonly Action[];
}

/** How the members of organizations and those of teams differ for pages. */
export interface MemberLevel<Params, Owner extends LevelOwner> {
  readonly level: Level<Params, Owner>;
  readonly list: (
    visit: Visit,
    owner: Owner,
    query: Record<string, string>,
  ) => Promise<{ readonly members: readonly ShownMember[]; readonly next_cursor: string | null }>;
  readonly get: (visit: Visit, owner: Owner, userID: string) => Promise<MemberDetails>;
  readonly set: (visit: Visit, owner: Owner, userID: string, body: object) => Promise<unknown>;
  readonly remove: (visit: Visit, owner: Owner, userID: string) => Promise<unknown>;
  readonly roles: readonly Choice[];
  /** Who can join. */
  readonly aboutJoining: string;
  /** Who can be chosen to join, in the field `user_id`. */
  readonly joiners: (visit: Visit, owner: Owner) => Promise<Joiners>;
  /** Where somebody is added to the organization, which they must join before its teams. */
  readonly joinOrganizationPath?: (owner: Owner, prefilled: Prefilled) => LocalPath;
  /** What the visitor may do next for somebody who was added; null if there is nothing. */
  readonly renderNextStep?: (visit: Visit<Params>, owner: Owner) => Promise<Html | null>;
  /** The way back to the guide that leads to this page; null if it is finished. */
  readonly renderSetup?: (visit: Visit, owner: Owner) => Promise<Html | null>;
  readonly memberPath: (owner: Owner, userID: string) => LocalPath;
  readonly removalPath: (owner: Owner, userID: string) => LocalPath;
  /** Where somebody goes who has left. */
  readonly pathAfterLeaving: LocalPath;
  /** Whether the platform role of a member keeps them from reviewing, which their role here would let them. */
  readonly isLimited?: (visit: Visit, owner: Owner, userID: string) => Promise<boolean>;
  /** What ends with a membership. */
  readonly aboutRemoval: string;
  /** The schedules that cannot start their work any more when a membership ends. */
  readonly schedulesOf: (owner: Owner) => ScheduleScope;
}

/** The parameters of the path of one member. */
export type MemberParams<Params> = Params & { readonly userID: string };
