import { z } from 'zod';
import { environmentNameSchema, explainVariableName } from '#domain/variables/names.ts';
import { defineKind, field, SecretText } from './kind.ts';

const maxNames = 50;

const Named = z
  .record(z.string().meta(environmentNameSchema), SecretText)
  .meta({ maxProperties: maxNames })
  .default({})
  .superRefine((values, context) => {
    for (const name of Object.keys(values)) {
      const wrong = explainVariableName('env', name);
      if (wrong) context.addIssue({ code: 'custom', message: wrong, path: [name], input: name });
    }
  })
  .refine((values) => Object.keys(values).length <= maxNames, { error: `must have at most ${maxNames} names` });

const Credentials = z
  .strictObject({
    variables: field(Named, 'Variables', 'Environment variables by their names.'),
    files: field(
      Named,
      'Files',
      'Text of files. Each name is an environment variable that holds the path of its file.',
    ),
  })
  .refine(({ variables, files }) => Object.keys(variables).length + Object.keys(files).length > 0, {
    error: 'expected at least one of variables and files',
  })
  .refine(({ variables, files }) => Object.keys(files).every((name) => !Object.hasOwn(variables, name)), {
    error: 'a name is that of a variable or of a file, not of both',
  })
  .meta({ allOf: [{ anyOf: [holding('variables'), holding('files')] }] });

/** The JSON Schema of credentials with a non-empty member. */
function holding(member: string) {
  return { required: [member], properties: { [member]: { minProperties: 1 } } };
}

/** Provides variables and files to all programs of a template. */
export const generic = defineKind({
  summary: 'Give any tool secret variables and files.',
  config: z.strictObject({}),
  credentials: Credentials,
  urls: () => [],
  deliver: (_config, { variables, files }) => ({ variables, files }),
});
