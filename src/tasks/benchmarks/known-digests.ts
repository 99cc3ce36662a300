// SHA-256 and size of official files at the pinned revisions, by their names in the data folder.
const table = `
4a52301d8a49ae0b286f8e697f9c5da1b109b247b825b47b4c6de34312dceec5 132008 aqua/dev.json
de41581881ef95c5588c44ddc701c77fd480839241dd422a0d181262af24520c 130192 aqua/test.json
3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14 749738 gsm8k/test.jsonl
17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465 4166206 gsm8k/train.jsonl
b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef 44877 humaneval/HumanEval.jsonl.gz
2bd02b38beb48e8c46b5b9987095d999ff38cd8efc255ea5d58974317c48f63f 1252609773 livecodebench/test.jsonl
095df7c5daf15f882c51a9deb84085cff1e073495a5dbcf95015a564d485f3a3 713377060 livecodebench/test2.jsonl
28ed26cc83363ce3f1fe2d5fad9f8393077beb1907b167a31bd3b32f80801b79 623360766 livecodebench/test3.jsonl
d711138ddaebfcf5f8ec6a4283ee677298c0f5c5d374a235af92aaf0584510da 1204644685 livecodebench/test4.jsonl
7f77571c2a6df0c2a72a3277650309f67e01e0008e18117e624633df53f81214 557699297 livecodebench/test5.jsonl
bb4c364f71921c4495a6ad15abe1a927350b720009f4933e2e71f8af0f6fd1f5 134303240 livecodebench/test6.jsonl
0e24a191921c2f453518a537a8b2117bd137e7714d4ef1565e9ba06c1ecb9ad8 4144185 mmlu_pro/test.jsonl
0d94842ffb022db8fd5ecd2168b785d5cf67f6faf64f665476bad544a3eb9dde 424195 strategyqa/dev.json
0f72560b8a6fad3db847d2f1a7524fb087297843bb45a8d3245ffd68cbe0de12 3857762 strategyqa/train.json
28cdc15c36d6126bba96eaaac735ed45c3e9747a49acab6d012b5d39b6bd648e 1300401 tabfact/tokenized_data/test_examples.json
a01c1b3fee6eab8138bc91bcb2f7a35f13b4c04c83f3b2dc37c17f501374f74e 1298257 tabfact/tokenized_data/val_examples.json
8da095a819af6db3c14877c6df2d4d29960e41d1a63dd1fa853507bd2a616af5 1637431 tatqa/tatqa_dataset_dev.json
6efcf044cedeba3661eb70b1b93595673fd3f3dfcc1f78288ec5115682e7a96c 1146306 tatqa/tatqa_dataset_test.json
c4d08418359c1d76468dec420ee748a37f48c06b63cb8ec2766f19d5d314b597 2167546 tatqa/tatqa_dataset_test_gold.json
`

export const knownDigests: ReadonlyMap<string, { readonly bytes: number; readonly sha256: string }> = new Map(
  table
    .trim()
    .split('\n')
    .map((line) => line.split(' ') as [sha256: string, bytes: string, file: string])
    .map(([sha256, bytes, file]) => [file, { bytes: Number(bytes), sha256 }]),
)
