import type { Action } from '#domain/shared/actions.ts';
import type { Crumb } from '../components/page-head.ts';
import type { LocalPath, PagePattern, ParamsOf } from '../paths.ts';
import type { PageDeclaration, PageOptions } from '../visit/route.ts';
import type { Visit } from '../visit/visit.ts';
import { type FormPage, type FormPageDeclaration, formPage } from './form-page.ts';
import { refusalOf } from './resource-forms.ts';

/** What all forms about one kind of thing share. */
export interface FormsAbout<Params, Thing> {
  readonly read: (visit: Visit<Params>) => Promise<Thing>;
  readonly crumbs: (thing: Thing) => readonly Crumb[];
  /** The page of the thing, to which Cancel leads. */
  readonly path: (thing: Thing) => LocalPath;
}

type Common = 'crumbs' | 'cancel' | 'refusal' | 'fields';

/** What a single form adds. Without fields, it only asks for a confirmation. */
type Described = Omit<FormPage, Common> & Partial<Pick<FormPage, Common>>;

interface FormAbout<Params, Thing> extends Pick<FormPageDeclaration<Params, Thing>, 'carryOut'> {
  /** Reads the thing with more than all of its forms need. */
  readonly read?: (visit: Visit<Params>) => Promise<Thing>;
  readonly describe: (thing: Thing, visit: Visit<Params>) => Described | Promise<Described>;
}

/**
 * Returns a function that declares the form for one action of a thing, by the action's name. If the `actions` of the thing do not allow the
 * action, the page shows their reason instead of the form.
 */
export function formsAbout<Params, Thing extends { readonly actions: readonly Action[] }>(
  about: FormsAbout<Params, Thing>,
) {
  return <Pattern extends PagePattern, Subject extends Thing = Thing>(
    pattern: ParamsOf<Pattern> extends Params ? Pattern : never,
    action: Thing['actions'][number]['name'],
    { read, describe, carryOut }: FormAbout<Params, Subject>,
    options?: PageOptions,
  ): PageDeclaration => {
    const declaration: FormPageDeclaration<Params, Subject> = {
      read: read ?? (about.read as FormPageDeclaration<Params, Subject>['read']),
      describe: async (thing, visit) => ({
        crumbs: about.crumbs(thing),
        cancel: about.path(thing),
        refusal: refusalOf(thing.actions, action),
        fields: [],
        ...(await describe(thing, visit)),
      }),
      carryOut,
    };
    return formPage(pattern, declaration as FormPageDeclaration<ParamsOf<Pattern>, Subject>, options);
  };
}
