export type SampleTemplate = {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly spec: object;
  readonly variables: Readonly<Record<string, unknown>>;
};

const variables = {
  type: 'object',
  properties: { greeting: { type: 'string', minLength: 1, maxLength: 100, default: 'Hello' } },
  additionalProperties: false,
};

const greetScript = `set -eu
echo "Greeting with: $COORDINATOR_VAR_GREETING"
cp variables.json state.json
printf '{"message": "%s from a command template"}' "$COORDINATOR_VAR_GREETING" > outputs.json
`;

export const commandTemplate: SampleTemplate = {
  name: 'Greeting by a command',
  slug: 'greeting-command',
  description: 'Runs a shell script that reads a variable, writes a state and returns an output.',
  spec: {
    variables,
    outputs: { message: { description: 'The greeting' } },
    executor: {
      kind: 'command',
      files: { 'greet.sh': greetScript },
      apply: [{ name: 'greet', run: ['sh', 'greet.sh'] }],
      destroy: [{ name: 'farewell', run: ['sh', '-c', 'echo Goodbye'] }],
    },
  },
  variables: { greeting: 'Hello' },
};

const configuration = `variable "greeting" {
  type = string
}

resource "terraform_data" "greeting" {
  input = "\${var.greeting} from an OpenTofu template"
}

output "message" {
  value = terraform_data.greeting.output
}
`;

export const openTofuTemplate: SampleTemplate = {
  name: 'Greeting by OpenTofu',
  slug: 'greeting-opentofu',
  description: 'Manages one built-in resource, which needs neither a provider nor the network.',
  spec: {
    variables,
    outputs: { message: { description: 'The greeting' } },
    executor: { kind: 'opentofu', files: { 'main.tf': configuration } },
  },
  variables: { greeting: 'Hello' },
};
