import { HttpError, router } from 'framework'
import { z } from 'zod'

const Film = z.object({ id: z.int(), title: z.string(), seats: z.int() })
const NewFilm = z.object({ title: z.string().min(1), seats: z.int().min(1).max(500).default(20) })
export const Id = z.object({ id: z.coerce.number().int() })
type Film = z.infer<typeof Film>

router.get('/films', { responses: { 200: z.array(Film) } }, async (req) => {
  const { rows } = await req.database.query<Film>('select id, title, seats from films order by title')
  return rows
})

router.get('/films/:id', { params: Id, responses: { 200: Film } }, async (req) => {
  const { rows } = await req.database.query<Film>('select id, title, seats from films where id = $1', [req.params.id])
  if (rows[0] === undefined)
    throw new HttpError(404, { code: 'FilmNotFoundError', message: `There is no film ${req.params.id}` })
  return rows[0]
})

router.post('/films', { body: NewFilm, responses: { 201: Film } }, async (req, res) => {
  const { title, seats } = req.body
  // The database decides: between a check and the insert, another request could add the same film.
  const { rows } = await req.database.query<Film>(
    'insert into films (title, seats) values ($1, $2) on conflict (title) do nothing returning id, title, seats',
    [title, seats],
  )
  if (rows[0] === undefined)
    throw new HttpError(409, { code: 'FilmExistsError', message: `"${title}" is in the programme already` })
  return res.created(rows[0])
})
