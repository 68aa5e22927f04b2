import type { z } from 'zod';
import type { Level, LevelOwner } from '#api/tenancy/pages/levels/level.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import type { Html } from '#api/web/html.ts';
import type { LocalPath } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { InvitationView, SentInvitationView } from '../views.ts';

export type ShownInvitation = z.input<typeof InvitationView>;
export type SentInvitation = z.input<typeof SentInvitationView>;

/** The differences between the pages for invitations into organizations and into teams. */
export interface InvitationLevel<Params, Owner extends LevelOwner> {
  readonly level: Level<Params, Owner>;
  readonly list: (
    visit: Visit,
    owner: Owner,
    query: Record<string, string>,
  ) => Promise<{ readonly invitations: readonly ShownInvitation[]; readonly next_cursor: string | null }>;
  readonly create: (visit: Visit, owner: Owner, body: object) => Promise<SentInvitation>;
  readonly resend: (visit: Visit, owner: Owner, id: string) => Promise<SentInvitation>;
  readonly revoke: (visit: Visit, owner: Owner, id: string) => Promise<unknown>;
  /** The fields after the address, such as the role that the invitation offers. */
  readonly fields: (visit: Visit, owner: Owner) => Promise<FormField[]>;
  /** A notice above the form; null if there is none. */
  readonly renderNotice?: (visit: Visit, owner: Owner) => Promise<Html | null>;
  /** Says whom the visitor may invite, if that is limited. */
  readonly describeLimit?: (visit: Visit, owner: Owner) => string | null;
  readonly resendPath: (owner: Owner, id: string) => LocalPath;
  readonly revokePath: (owner: Owner, id: string) => LocalPath;
}
