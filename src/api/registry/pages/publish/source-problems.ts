import { fieldId } from '#api/web/forms/form.ts';
import { nameMissing } from '#api/web/forms/missing-value.ts';
import type { FormProblems } from '#api/web/forms/problems.ts';
import { toSentence } from '#api/web/text.ts';
import { type PublishForm, publishNames } from './publish-form.ts';

/** The controls for the files of a version, by where problems of their values are in the body, and their labels. */
const controls = {
  source: ['source', 'Files'],
  files: ['files', 'Files'],
  'spec.executor.git': ['source', 'Files'],
  'spec.executor.git.url': ['git_url', 'URL of the repository'],
  'spec.executor.git.ref': ['git_ref', 'Branch, tag or commit'],
  'spec.executor.git.path': ['git_path', 'Folder in the repository'],
} as const;

/** What problems of the form can belong to. A repository that the spec itself names has no fields. */
export function namesOf({ source }: PublishForm): readonly string[] {
  return source === 'git' ? [...publishNames, ...Object.keys(controls)] : publishNames;
}

/** The problems of the files at their controls, and all others as they were. What a check found in spec and files is listed once, above the form. */
export function atSource(problems: FormProblems): FormProblems {
  if (problems.code === 'configuration_invalid') {
    const found = (problems.details ?? []).map(({ path, message }) =>
      // A finding in a file names the file.
      toSentence(path === 'spec.executor' ? message : `${path}: ${message}`),
    );
    return { ...problems, fields: {}, others: found.length > 0 ? found : problems.others };
  }
  const fields = { ...problems.fields };
  const listed = Object.entries(controls).flatMap(([path, [name, label]]) => {
    const message = fields[path];
    delete fields[path];
    return message === undefined ? [] : [{ target: fieldId(name), label, message: nameMissing(message, { label }) }];
  });
  return { ...problems, fields, listed };
}

/** What is wrong with a control of the files. */
export function problemOf(problems: FormProblems | null, name: string): string | undefined {
  return problems?.listed?.find(({ target }) => target === fieldId(name))?.message;
}
