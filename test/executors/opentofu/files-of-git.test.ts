import { afterAll, describe, expect, it } from 'vitest';
import type { TemplateFiles } from '#domain/sources/files.ts';
import type { OpenTofuExecutor } from '#executors/protocol/request.ts';
import { makeWorkRoot, requireTools, run, runSteps, shell } from '../support.ts';
import { useTool } from './opentofu-support.ts';

const tools = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);

const files: TemplateFiles = {
  'run.sh': '#!/bin/sh\necho ran\n',
  'library.sh': { text: '#!/bin/sh\n', executable: false },
  'tool.bin': { base64: Buffer.from([0, 255]).toString('base64'), executable: true },
  'modules/v2/main.tf': 'output "name" {\n  value = file("${path.module}/name.txt")\n}\n',
  'modules/v2/name.txt': 'second',
  'modules/current': { link: 'v2' },
  'modules/v2/parts': { link: '../../shared/parts' },
  'modules/v2/more.tf': { link: '../../shared/more.tpl' },
  'shared/more.tpl': 'module "parts" {\n  source = "./parts"\n}\n',
  'shared/parts/main.tf': 'locals {\n  part = 1\n}\n',
  'main.tf': { link: 'shared/main.tf' },
  'shared/main.tf': 'module "m" {\n  source = "./modules/current"\n}\noutput "name" {\n  value = module.m.name\n}\n',
};

describe('files of a git repository', () => {
  it('keep their modes and links in the sandbox of a run', async () => {
    const look =
      "find . -path './plan' -prune -o -type f -perm -100 -print | sort; find . -type l -printf '%p %l\\n' | sort";
    const { sink } = await runSteps(work.path, { files, apply: [shell(look)] });
    expect(sink.text('stdout')).toBe(
      './run.sh\n./tool.bin\n./main.tf shared/main.tf\n./modules/current v2\n./modules/v2/more.tf ../../shared/more.tpl\n./modules/v2/parts ../../shared/parts\n',
    );
  });

  it('make the attempt fail if they link out of the template, or lie below a link', async () => {
    for (const [path, content] of Object.entries({
      out: { link: '../x' },
      'modules/current/x.tf': '',
      around: { link: 'modules/current/../../../x' },
    })) {
      const executor = { kind: 'command', files: { ...files, [path]: content }, apply: [shell('true')] } as const;
      const { result } = await runSteps(work.path, executor).catch((error: Error) => ({ result: error.message }));
      expect(JSON.stringify(result), path).toContain('files_invalid');
    }
  });
});

describe.each(tools)('a configuration with links with $name $version', ({ name, version }) => {
  const { plan, deploy, request } = useTool(work.path, { name, version });
  const executor: OpenTofuExecutor = { kind: 'opentofu', files };
  const given = { executor, variables: {}, outputs: { name: {} } };

  it('is planned and applied with the files that its links lead to', async () => {
    expect((await plan(given)).plan.hasChanges).toBe(true);
    expect((await deploy(given)).result.outputs).toMatchObject({ name: { value: 'second' } });
  });

  it('is searched through its links for refused content', async () => {
    const encrypted =
      'terraform {\n  encryption {\n    key_provider "external" "x" {\n      command = ["sh"]\n    }\n  }\n}\n';
    const linked = { ...files, 'state.tf': { link: 'shared/state.tpl' }, 'shared/state.tpl': encrypted };
    const { result } = await run(request({ phase: 'plan', ...given, executor: { kind: 'opentofu', files: linked } }));
    expect(result.reason).toBe('backend_forbidden');
  });
});
