/** Names of tools, as people write them. */
const names: Readonly<Record<string, string>> = { opentofu: 'OpenTofu', terraform: 'Terraform' };

/** A tool with its version or its range of versions, such as `OpenTofu ~> 1.10`. */
export function describeTool({
  name,
  version = '',
}: {
  readonly name: string;
  readonly version?: string | undefined;
}): string {
  const shown = names[name] ?? name;
  return version === '' ? shown : `${shown} ${version}`;
}
