const name = String.raw`[\p{ID_Start}_][\p{ID_Continue}-]*`;
const key = String.raw`\[\s*(?:\d+|"(?:[^"\\\n]|\\.)*")\s*\]`;
const address = new RegExp(String.raw`^\s*${name}(?:\s*${key}|\s*\.\s*(?:${name}|\d+))*\s*$`, 'u');

/** Whether OpenTofu and Terraform can read a text as the address of resources or modules. Whether there are any is another question. */
export function isAddress(text: string): boolean {
  return address.test(text);
}
