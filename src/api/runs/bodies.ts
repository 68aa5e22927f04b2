import { z } from 'zod';
import { InstanceName } from '#domain/instances/instance-name.ts';
import { requestedOperations } from '#domain/runs/model.ts';
import { Id } from '#domain/shared/ids.ts';
import { Json } from '#domain/shared/values/json.ts';

/** The bodies of requests for runs (api.md of the design, *Runs*). */

const Operation = z.enum(requestedOperations);
const Replaced = z.array(z.string().min(1).max(1024)).max(100);
const Message = z.string().max(4000);

/** What both a run and a copy of one may name. What is left out has another meaning in each. */
const inputs = {
  version: z.string().min(1).max(128).optional(),
  instance: InstanceName.optional(),
  variables: z.record(z.string(), Json).default({}),
};

export const CreateRun = z
  .strictObject({
    template_id: Id,
    version: inputs.version.describe(
      'A version, a range such as ^1.2, or latest. Without one, a destroy uses the version of the deployment, and everything else the latest.',
    ),
    environment_id: Id.optional(),
    instance: inputs.instance.describe("What is deployed, by name; the template's slug where none is given."),
    operation: Operation.default('apply'),
    replace: Replaced.default([]).describe('Addresses of resources to replace.'),
    variables: inputs.variables.describe(
      'A destroy takes those that are left out from the deployment that it removes; secret ones only if it names neither variables nor another version.',
    ),
    message: Message.default(''),
  })
  .meta({ id: 'CreateRun' });

export const CopyRun = z
  .strictObject({
    ...inputs,
    version: inputs.version.describe('The version of the run unless given, even if it was yanked.'),
    operation: Operation.optional(),
    replace: Replaced.optional().describe('Those of the run unless given, or none if the operation is another one.'),
    variables: inputs.variables.describe('They take the place of those of the run.'),
    omit: z
      .array(z.string().min(1).max(255))
      .max(1000)
      .default([])
      .describe(
        "Variables of the run that are not taken over: the environment's value or the default takes their place.",
      ),
    message: Message.optional(),
  })
  .meta({ id: 'CopyRun' });
