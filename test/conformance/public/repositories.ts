/** A configuration of a public repository that keeps its state elsewhere. Nothing of it is kept here. */
export interface PublicConfiguration {
  /** On GitHub. */
  readonly repository: string;
  readonly commit: string;
  /** The root module. */
  readonly path: string;
  /** For variables without a default. */
  readonly variables?: Readonly<Record<string, unknown>>;
  /** The versions that its `required_version` takes, if not all. */
  readonly opentofu?: string;
  readonly terraform?: string;
}

export const publicConfigurations: readonly PublicConfiguration[] = [
  {
    repository: 'akath19/homelab',
    commit: '08d65702f9a82071df2c668d12f66c1c56abd74a',
    path: 'cf-dns',
    variables: {
      'api-token': 'conformance-api-token',
      'dns-zone-id': 'conformance-dns-zone-id',
      'zone-name': 'conformance-zone-name',
      'npm-ts-ip': 'conformance-npm-ts-ip',
      entries: ['conformance-entries'],
    },
    terraform: '>=1.12',
  },
  {
    repository: 'akath19/homelab',
    commit: '08d65702f9a82071df2c668d12f66c1c56abd74a',
    path: 'tfcloud',
    variables: {
      'api-token': 'conformance-api-token',
      organization: 'conformance-organization',
      'github-app-id': 'conformance-github-app-id',
      'github-repo': 'conformance-github-repo',
    },
    terraform: '>=1.12',
  },
  {
    repository: 'alflag-team/terraform-dns',
    commit: 'f7b2440c4900832e5a5c06f8f138deb252aba15e',
    path: '',
    variables: { cloudflare_api_token: 'conformance-cloudflare-api-token' },
  },
  {
    repository: 'Capstone-Walking/Capstone-Walking-IaC',
    commit: 'bfbb4fd1c9c85e561e3fea609f347edbde97ebcf',
    path: '',
    variables: { aws_access_key: 'conformance-aws-access-key', aws_secret_key: 'conformance-aws-secret-key' },
  },
  {
    repository: 'datarootsio/terraform-module-azure-snowflake',
    commit: '857eb2b5bc21239af3907d17e9e7eadac98f776a',
    path: 'tf',
    variables: { env: 'staging' },
  },
  {
    repository: 'hashicorp-education/learn-terraform-dynamic-credentials',
    commit: 'cf9004d3f49ad2ac8a088fb6aac7bb687b8a6bcf',
    path: 'azure/infra',
  },
  {
    repository: 'hashicorp-education/learn-terraform-dynamic-credentials',
    commit: 'cf9004d3f49ad2ac8a088fb6aac7bb687b8a6bcf',
    path: 'gcp/infra',
    variables: { gcp_project_id: 'conformance-gcp-project-id' },
  },
  {
    repository: 'hashicorp-education/learn-terraform-github-actions',
    commit: '13a76474d748b79cd42efbaa10c53db3a720418b',
    path: '',
  },
  {
    repository: 'hashicorp/learn-terraform',
    commit: 'b260ccaf1a1edc0648f69789f1c846fb0ca98b6c',
    path: '',
  },
  {
    repository: 'infotecho/ocomms',
    commit: 'efd2190b35e496ffff1d14d149a2a78256689f00',
    path: 'terraform',
  },
  {
    repository: 'jamesapdx/terraform_example',
    commit: '4f53c636b8a27aedfa67b31e05ea9bbe86e1c276',
    path: '',
    variables: { stage: 'conformance-stage' },
  },
  {
    repository: 'jhagrolia/tf-aws-basic-modules',
    commit: '996f40df86dcccb8f7a8524cc086e0b346d9b86c',
    path: '',
  },
  {
    repository: 'jontehashi/hashitecli',
    commit: '2204514134140421ea797ab45df767e1fa2c306b',
    path: '',
    variables: { aws_region: 'eu-west-1' },
  },
  {
    repository: 'kirilche/tf-cloud-gcp',
    commit: 'cb08db8903019b518549d45b81557b9ca04019c6',
    path: '',
    variables: {
      project_id: 'conformance-project-id',
      region: 'eu-west-1',
      zone: 'conformance-zone',
      credentials: 'conformance-credentials',
    },
  },
  {
    repository: 'liamstevens111/terraform-infrastructure-example',
    commit: '1cf03cd86f07076c6cf7e6cc69bbdb66490ef82d',
    path: '',
    variables: {
      db_password: 'conformance-db-password',
      database_url: 'conformance-database-url',
      secret_key_base: 'conformance-secret-key-base',
    },
  },
  {
    repository: 'pythonitalia/pycon',
    commit: '470187eaf42f76fc9784454053fbcdabbba48806',
    path: 'infrastructure/applications',
  },
  {
    repository: 'pythonitalia/pycon',
    commit: '470187eaf42f76fc9784454053fbcdabbba48806',
    path: 'infrastructure/global',
  },
  {
    repository: 'pythonitalia/pycon',
    commit: '470187eaf42f76fc9784454053fbcdabbba48806',
    path: 'infrastructure/tools',
  },
  {
    repository: 'SaideepReddyKalukurthi/VPN',
    commit: '9eb5932ae1b3d6a2f786f058d9919e485c094eb9',
    path: 'deploy/subnets',
  },
  {
    repository: 'SaideepReddyKalukurthi/VPN',
    commit: '9eb5932ae1b3d6a2f786f058d9919e485c094eb9',
    path: 'deploy/vpc',
  },
  {
    repository: 'SaideepReddyKalukurthi/VPN',
    commit: '9eb5932ae1b3d6a2f786f058d9919e485c094eb9',
    path: 'deploy/vpn_ha',
  },
  {
    repository: 'samuellee-zy/samuellee-dev-tfc-workspaces',
    commit: '7045235804b6c866d677a77eddd03c98fe712a0d',
    path: '',
  },
  {
    repository: 'STEM-Garden-LLC/cloud-infrastructure',
    commit: 'b3f740b5f02784033fcad938fcfa9f83704eca00',
    path: 'root-workspaces/azure-root',
  },
  {
    repository: 'STEM-Garden-LLC/cloud-infrastructure',
    commit: 'b3f740b5f02784033fcad938fcfa9f83704eca00',
    path: 'root-workspaces/github-root',
  },
  {
    repository: 'STEM-Garden-LLC/cloud-infrastructure',
    commit: 'b3f740b5f02784033fcad938fcfa9f83704eca00',
    path: 'root-workspaces/terraform-cloud-root',
    variables: {
      github_token: 'conformance-github-token',
      aws_access_key_id: 'conformance-aws-access-key-id',
      aws_secret_access_key: 'conformance-aws-secret-access-key',
    },
  },
  {
    repository: 'STEM-Garden-LLC/cloud-infrastructure',
    commit: 'b3f740b5f02784033fcad938fcfa9f83704eca00',
    path: 'workspaces/mastery-math/dev',
  },
  {
    repository: 'STEM-Garden-LLC/cloud-infrastructure',
    commit: 'b3f740b5f02784033fcad938fcfa9f83704eca00',
    path: 'workspaces/mastery-math/prod',
  },
  {
    repository: 'STEM-Garden-LLC/cloud-infrastructure',
    commit: 'b3f740b5f02784033fcad938fcfa9f83704eca00',
    path: 'workspaces/stem-garden/dev',
    variables: {
      aws_access_key_id: 'conformance-aws-access-key-id',
      aws_secret_access_key: 'conformance-aws-secret-access-key',
    },
  },
  {
    repository: 'STEM-Garden-LLC/cloud-infrastructure',
    commit: 'b3f740b5f02784033fcad938fcfa9f83704eca00',
    path: 'workspaces/stem-garden/prod',
  },
  {
    repository: 'STEM-Garden-LLC/cloud-infrastructure',
    commit: 'b3f740b5f02784033fcad938fcfa9f83704eca00',
    path: 'workspaces/stem-garden/shared',
  },
  {
    repository: 'Stephanie-Chester/aws-cloud-resume-challenge',
    commit: 'ba4ac2f16df9e58a03eb85fb31db4adcfe83fe5e',
    path: 'backend/terraform',
  },
  {
    repository: 'Stephanie-Chester/aws-cloud-resume-challenge',
    commit: 'ba4ac2f16df9e58a03eb85fb31db4adcfe83fe5e',
    path: 'frontend/terraform',
  },
  {
    repository: 'T0mAlexander/Terraform-Alura',
    commit: '0b68d55b264a9e14ab065b2e61724a67cc6539c9',
    path: '',
  },
  {
    repository: 'theci/terraform',
    commit: '94887fc635f7cc70fdd6099143c395c94fb04fa0',
    path: 'module-serverless',
  },
  {
    repository: 'TheKving/oci-iaas',
    commit: 'f0e01da767821730d61788975e7fe130a23630b9',
    path: '',
    variables: {
      oci_user: 'conformance-oci-user',
      oci_private_key: 'conformance-oci-private-key',
      oci_key_fingerprint: 'conformance-oci-key-fingerprint',
      oci_tenancy_ocid: 'conformance-oci-tenancy-ocid',
      public_domain: 'conformance-public-domain',
      cf_api_token: 'conformance-cf-api-token',
      cf_account_id: 'conformance-cf-account-id',
    },
  },
  {
    repository: 'wallacepf/terraform-gke-dyncreds',
    commit: '5209560c92db4a101a570467d74060f6776e2bdd',
    path: 'hcp-vault-configs',
    variables: { tfc_org: 'conformance-tfc-org', gke_wrksp: 'conformance-gke-wrksp' },
  },
  {
    repository: 'whatdoIputhere/github-config',
    commit: '3c5181d1373f60858105c49fe2e941d70257d96d',
    path: '',
    variables: { gh_pat: 'conformance-gh-pat' },
  },
];
