const form = /^[\t ]*application\/x-www-form-urlencoded[\t ]*(?:;[\t ]*charset=(?:"utf-8"|utf-8)[\t ]*)?$/i

/** Whether a content type is exactly that of a form, in UTF-8. */
export function isForm(header: string | undefined): boolean {
  return header !== undefined && form.test(header)
}
