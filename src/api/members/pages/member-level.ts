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

/** The people who can be chosen as new members, and how the form asks for them. */
export interface Joiners extends Omit<PersonSearch, 'name'> {
  readonly label: string;
  readonly hint: Html | string;
}

/** A single member, with what the visitor may do with the membership. */
export interface MemberDetails extends ShownMember {
  readonly actions: readonly Action[];
}

/** The differences between the pages for members of organizations and of teams. */
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
  /** Explains who can join. */
  readonly aboutJoining: string;
  /** The people who can be chosen in the field `user_id`. */
  readonly joiners: (visit: Visit, owner: Owner) => Promise<Joiners>;
  /** The form that adds somebody to the organization, which they must join before its teams. */
  readonly joinOrganizationPath?: (owner: Owner, prefilled: Prefilled) => LocalPath;
  /** A possible next step for somebody who was added; null if there is none. */
  readonly renderNextStep?: (visit: Visit<Params>, owner: Owner) => Promise<Html | null>;
  /** A link back to the set-up guide that leads to this page; null if the guide is finished. */
  readonly renderSetup?: (visit: Visit, owner: Owner) => Promise<Html | null>;
  readonly memberPath: (owner: Owner, userID: string) => LocalPath;
  readonly removalPath: (owner: Owner, userID: string) => LocalPath;
  /** The page for somebody who has left. */
  readonly pathAfterLeaving: LocalPath;
  /** Whether the platform role of a member prevents them from reviewing, although their role here allows it. */
  readonly isLimited?: (visit: Visit, owner: Owner, userID: string) => Promise<boolean>;
  /** Explains what ends with a membership. */
  readonly aboutRemoval: string;
  /** The owner of the schedules that can no longer start their work when a membership ends. */
  readonly schedulesOf: (owner: Owner) => ScheduleScope;
}

/** The parameters of the path of one member. */
export type MemberParams<Params> = Params & { readonly userID: string };
