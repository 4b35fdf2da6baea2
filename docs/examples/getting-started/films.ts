import { router } from 'framework'

router.get('/films/:id', (req) => ({ id: req.params.id, title: 'Stalker' }))

const Film = {
  type: 'object',
  properties: { title: { type: 'string', minLength: 1 }, year: { type: 'integer' } },
  required: ['title'],
} as const

router.post('/films', { body: Film }, (req, res) => {
  const { title, year = 1979 } = req.body
  return res.created({ id: '2', title, year })
})
