/**
 * The declaration of `env` in a generated module, with its variables as expressions of the schema.
 *
 * Each module reads its own: it works in a project without src/env.ts, and `.env` counts on every runtime: on Node.js and
 * Deno `process.env` has nothing of that file.
 */
export const environment = (variables: Readonly<Record<string, string>>): string =>
  [
    '/** Of .env and of the environment of the process, which wins. */',
    'const env = createEnvSchema((schema) => ({',
    ...Object.entries(variables).map(([name, type]) => `  ${name}: schema.${type},`),
    '}))',
  ].join('\n')

export const optional = 'string({ optional: true })'
export const secret = 'string({ optional: true, secret: true })'
export const textOr = (value: string): string => `string({ default: '${value}' })`

/** What every AWS client reads, as lines of `.env`. */
export const awsVariables = ['AWS_REGION=eu-south-1', 'AWS_ACCESS_KEY_ID=…', 'AWS_SECRET_ACCESS_KEY=…']

/** The types of these, and of the token that temporary keys have. */
export const awsTypes = {
  AWS_REGION: optional,
  AWS_ACCESS_KEY_ID: optional,
  AWS_SECRET_ACCESS_KEY: secret,
  AWS_SESSION_TOKEN: secret,
}

/** The function of a generated module that hands them to a client, which by itself reads the environment of the process alone. */
export const awsSource = `/** What is not set the client looks for as every AWS client does: in a profile, or by the role of the machine. */
function aws() {
  const region = env.get('AWS_REGION')
  const accessKeyId = env.get('AWS_ACCESS_KEY_ID')
  const secretAccessKey = env.get('AWS_SECRET_ACCESS_KEY')
  const sessionToken = env.get('AWS_SESSION_TOKEN')
  const hasKey = accessKeyId !== undefined && secretAccessKey !== undefined
  return {
    ...(region && { region }),
    ...(hasKey && { credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) } }),
  }
}`
