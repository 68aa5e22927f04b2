import type { ToolName } from '#domain/tools/model.ts';
import { ToolsError } from './errors.ts';

/** Where a tool is released, and who signs it. */
export interface Publisher {
  readonly program: 'tofu' | 'terraform';
  /** The directory of all versions. */
  readonly base: string;
  readonly directoryOf: (version: string) => string;
  /** The suffix of the file with the signature of the checksums. */
  readonly signatureSuffix: string;
  /** The URL of the public key. Its fingerprint decides whether it is the right key. */
  readonly keyUrl: string;
  readonly fingerprint: string;
}

export const publishers: Readonly<Record<ToolName, Publisher>> = {
  opentofu: {
    program: 'tofu',
    base: 'https://github.com/opentofu/opentofu/releases/download',
    directoryOf: (version) => `v${version}`,
    signatureSuffix: '.gpgsig',
    keyUrl: 'https://get.opentofu.org/opentofu.asc',
    fingerprint: 'E3E6E43D84CB852EADB0051D0C0AF313E5FD9F80',
  },
  terraform: {
    program: 'terraform',
    base: 'https://releases.hashicorp.com/terraform',
    directoryOf: (version) => version,
    signatureSuffix: '.sig',
    keyUrl: 'https://www.hashicorp.com/.well-known/pgp-key.txt',
    fingerprint: 'C874011F0AB405110D02105534365D9472D7468F',
  },
};

/** The names of the files of a release. */
export interface ReleaseFiles {
  readonly archive: string;
  readonly checksums: string;
  readonly signature: string;
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** The files of a version for this machine. @throws ToolsError if there is no release for it */
export function filesOf({ program, signatureSuffix }: Publisher, version: string): ReleaseFiles {
  const architecture = architectures[process.arch];
  if (architecture === undefined || !['linux', 'darwin'].includes(process.platform))
    throw new ToolsError(`No releases for ${process.platform} on ${process.arch} are known.`);
  const checksums = `${program}_${version}_SHA256SUMS`;
  const archive = `${program}_${version}_${process.platform}_${architecture}.zip`;
  return { archive, checksums, signature: `${checksums}${signatureSuffix}` };
}
