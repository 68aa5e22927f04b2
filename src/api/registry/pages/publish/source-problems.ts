import { fieldId } from '#api/web/forms/form.ts';
import { type FormProblems, nameMissing } from '#api/web/forms/problems.ts';
import { toSentence } from '#api/web/text.ts';
import { type PublishForm, publishNames } from './publish-form.ts';

/** The controls and labels for the files of a version, by the path of their problems in the body. */
const controls = {
  source: ['source', 'Files'],
  files: ['files', 'Files'],
  'spec.executor.git': ['source', 'Files'],
  'spec.executor.git.url': ['git_url', 'URL of the repository'],
  'spec.executor.git.ref': ['git_ref', 'Branch, tag or commit'],
  'spec.executor.git.path': ['git_path', 'Folder in the repository'],
} as const;

/** The paths that problems of the form may have. If the spec itself names a repository, there are no fields for it. */
export function namesOf({ source }: PublishForm): readonly string[] {
  return source === 'git' ? [...publishNames, ...Object.keys(controls)] : publishNames;
}

/** Moves the problems of files to their controls. The findings of a check in spec and files are listed once, above the form. */
export function atSource(problems: FormProblems): FormProblems {
  if (problems.code === 'configuration_invalid') {
    const found = (problems.details ?? []).map(({ path, message }) =>
      // A finding in a file includes the name of the file.
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

/** The problem of a control for files. */
export function problemOf(problems: FormProblems | null, name: string): string | undefined {
  return problems?.listed?.find(({ target }) => target === fieldId(name))?.message;
}
