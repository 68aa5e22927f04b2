import type { z } from 'zod';
import type { FormField } from '#api/web/forms/form.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import type { Html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import type { LocalPath, Query } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Action } from '#domain/shared/actions.ts';
import type { InvitationView, SentInvitationView } from '../views.ts';

export type ShownInvitation = z.input<typeof InvitationView>;
export type SentInvitation = z.input<typeof SentInvitationView>;

/** An organization or a team into which people are invited. */
export interface InvitationsOwner {
  readonly id: string;
  readonly name: string;
  readonly actions: readonly Action[];
}

/** How invitations into organizations and those into teams differ for pages. */
export interface InvitationLevel<Params, Owner extends InvitationsOwner> {
  readonly noun: 'organization' | 'team';
  readonly read: (visit: Visit<Params>) => Promise<Owner>;
  readonly list: (
    visit: Visit,
    owner: Owner,
    query: Record<string, string>,
  ) => Promise<{ readonly invitations: readonly ShownInvitation[]; readonly next_cursor: string | null }>;
  readonly create: (visit: Visit, owner: Owner, body: object) => Promise<SentInvitation>;
  readonly resend: (visit: Visit, owner: Owner, id: string) => Promise<SentInvitation>;
  readonly revoke: (visit: Visit, owner: Owner, id: string) => Promise<unknown>;
  /** The fields that say what the invitation offers, after the address. */
  readonly fields: (visit: Visit, owner: Owner) => Promise<FormField[]>;
  readonly names: readonly string[];
  readonly toBody: (typed: Typed) => object;
  readonly path: (owner: Owner, query?: Query) => LocalPath;
  readonly resendPath: (owner: Owner, id: string) => LocalPath;
  readonly revokePath: (owner: Owner, id: string) => LocalPath;
  readonly page: (visit: Visit, owner: Owner, parts: { content: Html; scripts?: readonly string[] }) => Page;
}
