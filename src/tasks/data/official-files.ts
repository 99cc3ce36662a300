// Where the official files of each benchmark are published, pinned to a revision; sizes and digests where they are known.
import type { BenchmarkName } from '../benchmarks/benchmark.ts'

export interface OfficialFile {
  /** Its place in the data folder. */
  readonly file: string
  readonly host: 'github' | 'hub'
  readonly repository: string
  readonly revision: string
  /** Inside the repository. */
  readonly path: string
  /** Without it, a download is checked by its content alone: every row, and how many there are. */
  readonly digest?: { readonly bytes: number; readonly sha256: string }
}

interface Repository {
  readonly host: OfficialFile['host']
  readonly repository: string
  readonly revision: string
}

type Entry = readonly [file: string, path: string, bytes?: number, sha256?: string]

function files(repository: Repository, entries: readonly Entry[]): readonly OfficialFile[] {
  return entries.map(([file, path, bytes, sha256]) => ({
    ...repository,
    file,
    path,
    ...(bytes !== undefined && sha256 !== undefined ? { digest: { bytes, sha256 } } : {}),
  }))
}

const github = (repository: string, revision: string): Repository => ({
  host: 'github',
  repository,
  revision,
})
const hub = (repository: string, revision: string): Repository => ({ host: 'hub', repository, revision })

export const officialFiles: Readonly<Record<BenchmarkName, readonly OfficialFile[]>> = {
  mmlu_pro: files(hub('TIGER-Lab/MMLU-Pro', 'b189ec765aa7ed75c8acfea42df31fdae71f97be'), [
    ['mmlu_pro/validation.parquet', 'data/validation-00000-of-00001.parquet'],
    [
      'mmlu_pro/test.parquet',
      'data/test-00000-of-00001.parquet',
      4_144_185,
      '0e24a191921c2f453518a537a8b2117bd137e7714d4ef1565e9ba06c1ecb9ad8',
    ],
  ]),
  strategyqa: files(github('eladsegal/strategyqa', '1ba1e97452e189569357876f2854b01357ffbe37'), [
    [
      'strategyqa/train.json',
      'data/strategyqa/train.json',
      3_857_762,
      '0f72560b8a6fad3db847d2f1a7524fb087297843bb45a8d3245ffd68cbe0de12',
    ],
    [
      'strategyqa/dev.json',
      'data/strategyqa/dev.json',
      424_195,
      '0d94842ffb022db8fd5ecd2168b785d5cf67f6faf64f665476bad544a3eb9dde',
    ],
  ]),
  aqua: files(github('google-deepmind/AQuA', '26b64ed1f22208c6742f47df547dfd65088ec30d'), [
    ['aqua/train.json', 'train.json'],
    [
      'aqua/dev.json',
      'dev.json',
      132_008,
      '4a52301d8a49ae0b286f8e697f9c5da1b109b247b825b47b4c6de34312dceec5',
    ],
    [
      'aqua/test.json',
      'test.json',
      130_192,
      'de41581881ef95c5588c44ddc701c77fd480839241dd422a0d181262af24520c',
    ],
  ]),
  gsm8k: files(github('openai/grade-school-math', '3101c7d5072418e28b9008a6636bde82a006892c'), [
    [
      'gsm8k/train.jsonl',
      'grade_school_math/data/train.jsonl',
      4_166_206,
      '17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465',
    ],
    [
      'gsm8k/test.jsonl',
      'grade_school_math/data/test.jsonl',
      749_738,
      '3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14',
    ],
  ]),
  humaneval: files(github('openai/human-eval', '6d43fb980f9fee3c892a914eda09951f772ad10d'), [
    [
      'humaneval/HumanEval.jsonl.gz',
      'data/HumanEval.jsonl.gz',
      44_877,
      'b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef',
    ],
  ]),
  livecodebench: files(
    hub('livecodebench/code_generation_lite', '0fe84c3912ea0c4d4a78037083943e8f0c4dd505'),
    [
      [
        'livecodebench/test.jsonl',
        'test.jsonl',
        1_252_609_773,
        '2bd02b38beb48e8c46b5b9987095d999ff38cd8efc255ea5d58974317c48f63f',
      ],
      [
        'livecodebench/test2.jsonl',
        'test2.jsonl',
        713_377_060,
        '095df7c5daf15f882c51a9deb84085cff1e073495a5dbcf95015a564d485f3a3',
      ],
      [
        'livecodebench/test3.jsonl',
        'test3.jsonl',
        623_360_766,
        '28ed26cc83363ce3f1fe2d5fad9f8393077beb1907b167a31bd3b32f80801b79',
      ],
      [
        'livecodebench/test4.jsonl',
        'test4.jsonl',
        1_204_644_685,
        'd711138ddaebfcf5f8ec6a4283ee677298c0f5c5d374a235af92aaf0584510da',
      ],
      [
        'livecodebench/test5.jsonl',
        'test5.jsonl',
        557_699_297,
        '7f77571c2a6df0c2a72a3277650309f67e01e0008e18117e624633df53f81214',
      ],
      [
        'livecodebench/test6.jsonl',
        'test6.jsonl',
        134_303_240,
        'bb4c364f71921c4495a6ad15abe1a927350b720009f4933e2e71f8af0f6fd1f5',
      ],
    ],
  ),
  tatqa: files(github('NExTplusplus/TAT-QA', '870accc41953dcde885aabeb963d94aabdc0fbc3'), [
    ['tatqa/tatqa_dataset_train.json', 'dataset_raw/tatqa_dataset_train.json'],
    [
      'tatqa/tatqa_dataset_dev.json',
      'dataset_raw/tatqa_dataset_dev.json',
      1_637_431,
      '8da095a819af6db3c14877c6df2d4d29960e41d1a63dd1fa853507bd2a616af5',
    ],
    [
      'tatqa/tatqa_dataset_test_gold.json',
      'dataset_raw/tatqa_dataset_test_gold.json',
      2_167_546,
      'c4d08418359c1d76468dec420ee748a37f48c06b63cb8ec2766f19d5d314b597',
    ],
    [
      'tatqa/tatqa_dataset_test.json',
      'dataset_raw/tatqa_dataset_test.json',
      1_146_306,
      '6efcf044cedeba3661eb70b1b93595673fd3f3dfcc1f78288ec5115682e7a96c',
    ],
  ]),
  tabfact: files(github('wenhuchen/Table-Fact-Checking', '2ab782ba42b5808076ac91fec846473aa5315a79'), [
    ['tabfact/tokenized_data/train_examples.json', 'tokenized_data/train_examples.json'],
    [
      'tabfact/tokenized_data/val_examples.json',
      'tokenized_data/val_examples.json',
      1_298_257,
      'a01c1b3fee6eab8138bc91bcb2f7a35f13b4c04c83f3b2dc37c17f501374f74e',
    ],
    [
      'tabfact/tokenized_data/test_examples.json',
      'tokenized_data/test_examples.json',
      1_300_401,
      '28cdc15c36d6126bba96eaaac735ed45c3e9747a49acab6d012b5d39b6bd648e',
    ],
  ]),
}
