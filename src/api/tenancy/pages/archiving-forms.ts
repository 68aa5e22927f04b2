import type { CommandOperation } from '#api/pipeline/operation.ts';
import type { Crumb } from '#api/web/components/page-head.ts';
import type { FormPageDeclaration } from '#api/web/forms/form-page.ts';
import type { Html } from '#api/web/html.ts';
import type { LocalPath } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Action } from '#domain/shared/actions.ts';
import { refusalOf, requireTypedName, typedNameField } from './named-forms.ts';

interface Archived {
  readonly id: string;
  readonly name: string;
  readonly actions: readonly Action[];
}

/** How an organization, a team or a project is archived, unarchived and deleted by forms. */
export interface ArchivingForms<Params, Thing extends Archived> {
  /** What the thing is, such as "team". */
  readonly noun: string;
  readonly read: (visit: Visit<Params>) => Promise<Thing>;
  /** The operations that the forms carry out. `params` are those of their paths. */
  readonly operations: {
    readonly archive: CommandOperation;
    readonly unarchive: CommandOperation;
    readonly remove: CommandOperation;
  };
  readonly params: (thing: Thing) => Readonly<Record<string, string>>;
  readonly crumbs: (thing: Thing) => readonly Crumb[];
  readonly path: (thing: Thing, done?: string) => LocalPath;
  /** Where the visitor goes after a deletion. */
  readonly pathAfterDeletion: (thing: Thing) => LocalPath;
  readonly archiving: string;
  readonly unarchiving: string;
  /** What a deletion takes along, what stays, and what must be gone before. */
  readonly deletion: (thing: Thing, visit: Visit<Params>) => Promise<Html>;
}

/** Archiving can be undone, so nothing is typed. */
export function archiveForm<Params, Thing extends Archived>(
  forms: ArchivingForms<Params, Thing>,
): FormPageDeclaration<Params, Thing> {
  return {
    read: forms.read,
    describe: (thing) => ({
      title: `Archive ${thing.name}`,
      crumbs: forms.crumbs(thing),
      lead: forms.archiving,
      fields: [],
      submit: `Archive ${forms.noun}`,
      tone: 'danger',
      cancel: forms.path(thing),
      refusal: refusalOf(thing.actions, 'archive'),
    }),
    carryOut: async (thing, _typed, visit) => {
      await visit.run(forms.operations.archive, { params: forms.params(thing) });
      return forms.path(thing, 'archived');
    },
  };
}

export function unarchiveForm<Params, Thing extends Archived>(
  forms: ArchivingForms<Params, Thing>,
): FormPageDeclaration<Params, Thing> {
  return {
    read: forms.read,
    describe: (thing) => ({
      title: `Unarchive ${thing.name}`,
      crumbs: forms.crumbs(thing),
      lead: forms.unarchiving,
      fields: [],
      submit: `Unarchive ${forms.noun}`,
      cancel: forms.path(thing),
      refusal: refusalOf(thing.actions, 'unarchive'),
    }),
    carryOut: async (thing, _typed, visit) => {
      await visit.run(forms.operations.unarchive, { params: forms.params(thing) });
      return forms.path(thing, 'unarchived');
    },
  };
}

export function deleteForm<Params, Thing extends Archived>(
  forms: ArchivingForms<Params, Thing>,
): FormPageDeclaration<Params, Thing> {
  return {
    read: forms.read,
    describe: async (thing, visit) => ({
      title: `Delete ${thing.name}`,
      crumbs: forms.crumbs(thing),
      lead: await forms.deletion(thing, visit),
      fields: [typedNameField(thing.name)],
      hasKey: true,
      submit: `Delete ${forms.noun}`,
      tone: 'danger',
      cancel: forms.path(thing),
      refusal: refusalOf(thing.actions, 'delete'),
    }),
    carryOut: async (thing, typed, visit) => {
      requireTypedName(typed, thing.name);
      const key = typed['key'];
      await visit.run(forms.operations.remove, { params: forms.params(thing), ...(key && { key }) });
      return forms.pathAfterDeletion(thing);
    },
  };
}

/** What people are told after these forms, by the word in the address. */
export function archivingNews(noun: string): Record<string, string> {
  return {
    archived: `The ${noun} is archived.`,
    unarchived: `The ${noun} is active again.`,
    saved: 'The changes are saved.',
    created: `The ${noun} is created.`,
    transferred: `The ${noun} is transferred.`,
  };
}
