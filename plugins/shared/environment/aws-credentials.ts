import { foreignOption } from '../options/foreign-options.ts'
import { option } from '../options/index.ts'

const names = ['accessKeyId', 'secretAccessKey', 'sessionToken', 'expiration', 'credentialScope']

/** Credentials of an AWS client, or a function that returns them. */
export const awsCredentials = option
  .either(option.fn(), option.shape({}, foreignOption(names)))
  .says('credentials of an AWS client')
  .secret()
