import type { JsonValue } from '#domain/shared/values/json.ts';
import { renderConfirmation } from '../components/confirmation.ts';
import { type Crumb, renderPageHead } from '../components/page-head.ts';
import type { PageWithConfirmations } from '../confirmations.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../layout.ts';
import { renderLinkedText } from '../linked-text.ts';
import type { LocalPath, PagePattern, ParamsOf } from '../paths.ts';
import { toSentence } from '../text.ts';
import type { PageDeclaration, PageOptions } from '../visit/route.ts';
import type { Visit } from '../visit/visit.ts';
import { linesName } from './fields/control.ts';
import { type FormField, labelsOf } from './fields/form-field.ts';
import { matrixNames } from './fields/matrix.ts';
import { type Form, renderForm } from './form.ts';
import { type KindChoice, renderKindChoice, takeOtherKind } from './kind-choice.ts';
import { resolveNames } from './named-choices.ts';
import { type FormProblems, requireRevision, submit } from './problems.ts';
import { readForm, revisionName } from './read-form.ts';
import type { VariablesEntry } from './schema/variables.ts';
import {
  fillPart,
  otherFields,
  placePart,
  pointIntoPart,
  readPart,
  renderPart,
  type SchemaPart,
  splitSent,
  valuesOf,
  withPlaced,
} from './schema-part.ts';
import { openedName } from './stale.ts';
import { nameLines } from './word-list.ts';

/** A page that holds one form. */
export interface FormPage extends Pick<Form, 'submit' | 'tone' | 'cancelLabel'> {
  readonly title: string;
  readonly crumbs: readonly Crumb[];
  /** A line below the title. */
  readonly below?: Html | string | null;
  /** Buttons beside the title for other actions on the same thing. */
  readonly actions?: Html | null;
  /** Tabs for other parts of the thing that have forms of their own. */
  readonly tabs?: Html;
  /** What the form will do: what it removes and what it keeps. */
  readonly lead?: Html | string | null;
  /** A choice between kinds of the new thing, above the fields. */
  readonly kinds?: KindChoice;
  readonly fields: readonly FormField[];
  /** The part of the form that is made from a schema, such as the variables of a template. It follows the fields. */
  readonly schema?: SchemaPart | null;
  /** The page to which Cancel leads. */
  readonly cancel: LocalPath;
  /**
   * Why the visitor may not do this now; then there is no form to submit. The reason comes from the `actions` of the subject, or from
   * `visit.mayDo` if the subject does not exist yet. Null: the visitor may.
   */
  readonly refusal: string | null;
  /** The page whose text about the last action stands above the form, if the form redirects to itself. */
  readonly confirmations?: PageWithConfirmations;
  /** Fields that are empty when a refused form is shown again, because they may contain a secret. */
  readonly forgets?: (typed: Typed) => readonly string[];
}

/** What was typed, by the name of the field. A field that was not filled in is empty. */
export type Typed = Readonly<Record<string, string>>;

/** The behaviour of a form page. `Subject` is the thing that the form is about, read by operations, so only what the visitor may see. */
export interface FormPageDeclaration<Params, Subject> {
  /** Reads everything that the address names, so that there is no form for what does not exist. */
  readonly read: (visit: Visit<Params>) => Promise<Subject>;
  readonly describe: (subject: Subject, visit: Visit<Params>) => FormPage | Promise<FormPage>;
  /** Carries the form out by one command. Returns the path to redirect to, or a page that shows something once. */
  readonly carryOut: (
    subject: Subject,
    typed: Typed,
    visit: Visit<Params>,
    variables: Readonly<Record<string, JsonValue>>,
  ) => Promise<LocalPath | Page>;
}

/**
 * Declares a page of one form. GET shows it, and POST at the same address carries it out. If that fails, the form is shown with its
 * problems and with what was typed.
 */
export function formPage<Pattern extends PagePattern, Subject>(
  pattern: Pattern,
  { read, describe, carryOut }: FormPageDeclaration<ParamsOf<Pattern>, Subject>,
  options?: PageOptions,
): PageDeclaration {
  const show = async (visit: Visit<ParamsOf<Pattern>>) => {
    const described = await describe(await read(visit), visit);
    const { schema } = described;
    const confirmation = described.confirmations ? renderConfirmation(visit, described.confirmations) : null;
    const state = { confirmation, ...(schema && { entry: fillPart(schema) }) };
    return visit.show(renderFormPage(described, visit.request.url as LocalPath, state));
  };
  const post = async (visit: Visit<ParamsOf<Pattern>>) => {
    const subject = await read(visit);
    const described = await describe(subject, visit);
    const names = described.fields.flatMap(({ name, matrix }) => (matrix ? matrixNames(matrix) : [name]));
    const { schema } = described;
    const { plain, fields } = schema ? splitSent(visit.request.body) : { plain: visit.request.body, fields: null };
    const sentForOtherKind = described.kinds ? takeOtherKind(plain, names) : null;
    const sentFields = readTyped(sentForOtherKind ?? plain, [openedName, ...names], described.fields);
    const { [openedName]: _opened, [revisionName]: _revision, ...typed } = sentFields;
    const sent = schema && fields ? readPart(schema, fields) : null;
    const again = (problems: FormProblems | null) => {
      const state = {
        typed: withoutSecrets(sentFields, described),
        problems,
        ...(sent && { entry: sent.entry }),
        isOfOtherKind: sentForOtherKind !== null,
      };
      return visit.show(renderFormPage(described, visit.request.url as LocalPath, state), problems?.status ?? 200);
    };
    if (sentForOtherKind || sent?.isEdit) return again(null);
    if (sent && !sent.isCurrent) return again(otherFields);
    const given = schema && sent ? valuesOf(schema, sent.entry) : { values: {}, problems: [] };
    visit.problems.push(...given.problems);
    const labels = labelsOf(described.fields);
    const form = { names, labels, ...(schema && { findPointer: (path: string) => pointIntoPart(schema, path) }) };
    const submitted = await submit(visit, form, async () => {
      if (described.fields.some(needsRevision)) requireRevision(visit);
      return carryOut(subject, await resolveNames(visit, described.fields, typed), visit, given.values);
    });
    if (!submitted.done) return again(nameLines(submitted.problems, described.fields, typed));
    const { result } = submitted;
    return typeof result === 'string' ? visit.redirect(result) : visit.show(result, 201);
  };
  return (addPage) => {
    addPage('GET', pattern, show);
    addPage('POST', pattern, post, options);
  };
}

function needsRevision({ name, isOptional }: FormField): boolean {
  return name === revisionName && !isOptional;
}

/** Reads what was typed. Without scripts, a value of several lines comes from a second field. */
function readTyped(body: unknown, names: readonly string[], fields: readonly FormField[]): Typed {
  const lines = fields.flatMap((field) => linesName(field) ?? []);
  const sent: Typed = readForm(body, [...names, ...lines, 'key']);
  return Object.fromEntries(names.map((name) => [name, sent[`${name}.lines`] || (sent[name] ?? '')]));
}

/** The page in place of a form that the visitor may not send now. It says why. */
export function refusedPage(page: Pick<FormPage, 'title' | 'crumbs' | 'cancel'> & { readonly refusal: string }): Page {
  return renderFormPage({ ...page, fields: [], submit: '' }, page.cancel);
}

function withoutSecrets(typed: Typed, { forgets }: FormPage): Typed {
  const secrets = forgets?.(typed) ?? [];
  return { ...typed, ...Object.fromEntries(secrets.map((name) => [name, ''])) };
}

/** The state of a form that is shown again. */
interface FormState extends Pick<Form, 'typed' | 'problems'> {
  readonly entry?: VariablesEntry;
  /** The visitor has just switched to another kind. */
  readonly isOfOtherKind?: boolean;
  /** The result of the last action. */
  readonly confirmation?: Html | null;
}

function renderFormPage(described: FormPage, action: LocalPath, state: FormState = {}): Page {
  const { title, crumbs, below, actions, lead, refusal, cancel } = described;
  return {
    title,
    hasProblem: Boolean(state.problems),
    ...(described.schema && { scripts: ['schema-form.js'] }),
    main: html`<div class="page page-narrow">
${renderPageHead({ title, crumbs, below: below ?? null, actions: actions ?? null })}
${state.confirmation ?? null}
${described.tabs ?? null}
<div class="panel stack">
${lead ? html`<div class="consequences">${typeof lead === 'string' ? html`<p>${lead}</p>` : lead}</div>` : null}
${
  // What was typed stays visible in a form that was refused just now.
  refusal && !state.problems
    ? html`<div class="notice notice-problem"><p>${renderLinkedText(toSentence(refusal))}</p></div><a class="button" href="${cancel}">Back</a>`
    : renderForm(
        withSchema(withKinds({ ...described, ...state, action }, described, state), described.schema, state.entry),
      )
}</div>
</div>`,
  };
}

/** The form with the choice of a kind before its fields. */
function withKinds(form: Form, { kinds }: FormPage, { isOfOtherKind }: FormState): Form {
  return kinds ? { ...form, hasEdits: true, fields: [renderKindChoice(kinds, isOfOtherKind), ...form.fields] } : form;
}

/** The form with the fields of variables after its own. */
function withSchema(form: Form, schema: SchemaPart | null | undefined, entry: VariablesEntry | undefined): Form {
  if (!schema || !entry) return form;
  const placed = placePart(schema, entry, form.problems ?? null);
  return {
    ...form,
    hasEdits: true,
    fields: [...form.fields, renderPart(schema, entry, placed, form.action)],
    problems: form.problems ? withPlaced(form.problems, placed, entry) : null,
  };
}
