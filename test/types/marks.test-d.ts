import { router } from 'framework'
import { Type } from 'typebox'
import { z } from 'zod'

// A mark changes no type.
const Person = {
  type: 'object',
  properties: { mail: { type: 'string', sensitive: true }, pin: { type: 'string', secret: true } },
  required: ['mail'],
} as const

router.post('/types/marks', { body: Person }, (req) => {
  const { mail, pin }: { mail: string; pin?: string | undefined } = req.body
  return mail.length + (pin?.length ?? 0)
})
router.post('/types/marks/typebox', { body: Type.Object({ mail: Type.String({ sensitive: true }) }) }, (req) =>
  req.body.mail.trim(),
)
router.post('/types/marks/zod', { body: z.object({ mail: z.string().meta({ sensitive: true }) }) }, (req) =>
  req.body.mail.trim(),
)
router.post('/types/marks/issues', { responses: { 200: Person }, issues: ['pin'] }, () => ({ mail: 'x' }))
// @ts-expect-error the members are a list
router.post('/types/marks/issue', { responses: { 200: Person }, issues: 'pin' }, () => ({ mail: 'x' }))
