import type { CommandOperation } from '#api/pipeline/operation.ts';
import type { Crumb } from '#api/web/components/page-head.ts';
import { type FormPageDeclaration, formPage } from '#api/web/forms/form-page.ts';
import { refusalOf, requireTypedName, typedNameField } from '#api/web/forms/resource-forms.ts';
import type { Html } from '#api/web/html.ts';
import type { LocalPath, PagePattern, ParamsOf } from '#api/web/paths.ts';
import type { PageDeclaration } from '#api/web/visit/route.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Action } from '#domain/shared/actions.ts';

interface Archived {
  readonly id: string;
  readonly name: string;
  readonly actions: readonly Action[];
}

/** The forms that archive, unarchive and delete a kind of thing, such as a team or a template. */
export interface ArchivingForms<Params, Thing extends Archived> {
  /** The kind of thing, such as "team". */
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
  readonly path: (thing: Thing, done?: 'archived' | 'unarchived') => LocalPath;
  /** The path to redirect to after a deletion. */
  readonly pathAfterDeletion: (thing: Thing) => LocalPath;
  /** What archiving changes, and what stays. */
  readonly archiving: Html | string;
  readonly unarchiving: string;
  /** Whether people must type the name before a deletion, because it destroys something that nobody can create again. */
  readonly isNameTyped: boolean;
  /** What is deleted too, what stays, and what must be removed before. */
  readonly deletion: (thing: Thing, visit: Visit<Params>) => Promise<Html>;
}

/** Archiving can be undone, so people need not type the name. */
function archiveForm<Params, Thing extends Archived>(
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

function unarchiveForm<Params, Thing extends Archived>(
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

function deleteForm<Params, Thing extends Archived>(
  forms: ArchivingForms<Params, Thing>,
): FormPageDeclaration<Params, Thing> {
  return {
    read: forms.read,
    describe: async (thing, visit) => ({
      title: `Delete ${thing.name}`,
      crumbs: forms.crumbs(thing),
      lead: await forms.deletion(thing, visit),
      fields: forms.isNameTyped ? [typedNameField(thing.name)] : [],
      submit: `Delete ${forms.noun}`,
      tone: 'danger',
      cancel: forms.path(thing),
      refusal: refusalOf(thing.actions, 'delete'),
    }),
    carryOut: async (thing, typed, visit) => {
      if (forms.isNameTyped) visit.collect(() => requireTypedName(typed, thing.name));
      await visit.run(forms.operations.remove, { params: forms.params(thing) });
      return forms.pathAfterDeletion(thing);
    },
  };
}

/** Declares the three forms. `patterns` has the paths for archiving, unarchiving and deleting. */
export function archivingForms<Pattern extends PagePattern, Thing extends Archived>(
  patterns: { readonly archive: Pattern; readonly unarchive: Pattern; readonly remove: Pattern },
  forms: ArchivingForms<ParamsOf<Pattern>, Thing>,
): PageDeclaration[] {
  return [
    formPage(patterns.archive, archiveForm(forms)),
    formPage(patterns.unarchive, unarchiveForm(forms)),
    formPage(patterns.remove, deleteForm(forms)),
  ];
}
