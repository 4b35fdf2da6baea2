/** A variable of the environment that generated code reads. */
export interface Variable {
  readonly name: string
  /** Its type in `src/env.ts`, as an expression of the schema. */
  readonly type: string
  /** The comment before it in `.env` and `.env.example`. */
  readonly about?: string
  /** The value in `.env.example`: empty for a secret, which must not be copied. */
  readonly example: string
  /** The value in `.env`, so that the application runs here immediately. Without it, the variable is optional, and stays a comment. */
  readonly value?: string
  /** The value in `.env.test`, which is committed. Default: `value`. */
  readonly test?: string
}

/** A required variable; without it, the boot fails with its name. */
export const required = (name: string, value: string): Variable => ({ name, type: 'string()', example: value, value })

/** The same for a variable with a password, which no error shows. */
export const requiredSecret = (name: string, example: string, value = example): Variable => ({
  name,
  type: 'string({ secret: true })',
  example,
  value,
})

export const optional = (name: string, example: string): Variable => ({
  name,
  type: 'string({ optional: true })',
  example,
})

const optionalSecret = { type: 'string({ optional: true, secret: true })', example: '…' }

/** The variables of every AWS client; the token is that of temporary keys. */
export const awsVariables = [
  optional('AWS_REGION', 'eu-south-1'),
  optional('AWS_ACCESS_KEY_ID', '…'),
  { name: 'AWS_SECRET_ACCESS_KEY', ...optionalSecret },
  { name: 'AWS_SESSION_TOKEN', ...optionalSecret },
]
