const form =
  /^[\t ]*application\/x-www-form-urlencoded[\t ]*(?:;[\t ]*(?:charset=(?<quote>"?)(?<charset>[\w.:-]+)\k<quote>[\t ]*)?)?$/i

/** What a content type says about a body: not a form, a form in UTF-8, or a form in an unsupported charset. */
export type FormType = 'none' | 'read' | 'charset'

/** Parses a content type strictly, ignoring case; a form may have no parameter other than a charset. */
export function formTypeOf(header: string | undefined): FormType {
  const match = header === undefined ? null : form.exec(header)
  if (match === null) return 'none'
  const charset = match.groups?.charset
  return charset === undefined || charset.toLowerCase() === 'utf-8' ? 'read' : 'charset'
}
